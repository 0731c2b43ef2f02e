# see ../CMakeLists.txt
set(TLS_SOURCES probes/tls_identity.c probes/tls_session.c probes/tls_trust.c probes/trace.c
  probes/output.c probes/clock.c config/units.c config/arena.c)
probity_unit_test(curlev SOURCES probes/curlev.c config/arena.c WRAP close)
probity_unit_test(attempts SOURCES tests/unit/dial_bench.c probes/attempts.c probes/dial.c
  probes/dial_address.c probes/trace.c probes/output.c probes/clock.c config/arena.c WRAP socket getsockopt)
probity_unit_test(dial SOURCES tests/unit/dial_bench.c probes/attempts.c probes/dial.c probes/dial_address.c
  probes/trace.c probes/output.c probes/clock.c config/arena.c WRAP socket getsockopt)

set(CHILD_SOURCES probes/child.c probes/child_end.c probes/child_spawn.c probes/child_tree.c
  probes/clock.c probes/notice.c probes/output.c probes/remains.c config/arena.c)
probity_unit_test(code_set SOURCES probes/code_set.c)
probity_unit_test(limits SOURCES probes/limits.c ${OUTCOME_SOURCES})
probity_unit_test(time_limits SOURCES probes/time_limits.c ${FIELD_SOURCES})
probity_unit_test(measures SOURCES probes/measures.c probes/output.c config/arena.c)
probity_unit_test(perfdata SOURCES probes/perfdata.c)
probity_unit_test(output SOURCES probes/output.c config/arena.c)
probity_unit_test(secret SOURCES probes/secret.c config/arena.c)
# Not under valgrind: it turns vfork into fork, whose parent does not wait for the child.
probity_unit_test(child NO_VALGRIND SOURCES ${CHILD_SOURCES} WRAP open)
probity_unit_test(child_end NO_VALGRIND SOURCES ${CHILD_SOURCES} WRAP kill)
probity_unit_test(child_kill NO_VALGRIND SOURCES ${CHILD_SOURCES} WRAP kill)
probity_unit_test(child_start NO_VALGRIND SOURCES ${CHILD_SOURCES} WRAP clone pipe2)
probity_unit_test(child_tree NO_VALGRIND SOURCES ${CHILD_SOURCES})
probity_unit_test(safepath SOURCES probes/safepath.c config/arena.c)
probity_unit_test(script_input SOURCES probes/script_input.c config/arena.c WRAP memfd_create)
probity_unit_test(script_judge SOURCES probes/script_judge.c probes/code_set.c config/units.c
  config/arena.c)
probity_unit_test(script_values SOURCES probes/script_values.c probes/limits.c probes/perfdata.c
  ${OUTCOME_SOURCES})
probity_unit_test(script_env SOURCES probes/script_env.c probes/secret.c config/arena.c)
probity_unit_test(grpc_answer SOURCES probes/grpc_answer.c probes/grpc_message.c config/arena.c)
probity_unit_test(grpc_watch SOURCES probes/grpc_watch.c config/arena.c)
probity_unit_test(grpc_request SOURCES probes/grpc_request.c probes/grpc_look.c probes/grpc_message.c
  probes/grpc_metadata.c probes/secret.c config/arena.c)
probity_unit_test(http_judge SOURCES probes/http_judge.c probes/http_failure.c probes/http_headers.c probes/code_set.c probes/measures.c config/arena.c
  ${TLS_SOURCES} WRAP clock_wall)
probity_unit_test(http_place SOURCES probes/http_place.c probes/secret.c config/arena.c)
probity_unit_test(http_request SOURCES probes/http_request.c probes/http_form.c probes/http_place.c probes/secret.c
  probes/curlev.c config/arena.c)
# Not under valgrind: thirty times slower, it runs into the limit of effort that is tested.
set(MATCH_SOURCES probes/match.c probes/match_conf.c config/arena.c)
probity_unit_test(match NO_VALGRIND SOURCES ${MATCH_SOURCES} WRAP pcre2_jit_compile_8 pcre2_match_8)
probity_unit_test(match_limits NO_VALGRIND SOURCES ${MATCH_SOURCES}
  WRAP pcre2_jit_compile_8 pcre2_match_8)
# Not under valgrind, as match.
set(MATCH_JSON_SOURCES probes/match_json.c probes/match_json_conf.c probes/match.c probes/match_conf.c
  probes/limits.c ${OUTCOME_SOURCES} ${FIELD_SOURCES})
probity_unit_test(match_json NO_VALGRIND SOURCES ${MATCH_JSON_SOURCES})
probity_unit_test(match_json_conf SOURCES ${MATCH_JSON_SOURCES})
set(SCRIPT_SOURCES probes/script.c probes/script_check.c probes/script_env.c probes/script_input.c
  probes/script_judge.c probes/script_values.c probes/limits.c probes/perfdata.c probes/code_set.c
  config/units.c probes/safepath.c probes/secret.c probes/probe.c ${OUTCOME_SOURCES} config/field_shown.c ${CHILD_SOURCES})
probity_unit_test(script NO_VALGRIND SOURCES ${SCRIPT_SOURCES} WRAP clone)
probity_unit_test(script_check NO_VALGRIND SOURCES ${SCRIPT_SOURCES})
probity_unit_test(resolve_conf SOURCES probes/resolve_conf.c probes/dial_address.c config/arena.c)
# Not under valgrind: on a busy machine it is slower than the tries, which are counted.
probity_unit_test(resolve NO_VALGRIND SOURCES tests/unit/dns_bench.c probes/resolve.c probes/resolve_channel.c probes/resolve_conf.c
  probes/resolve_found.c probes/dial_address.c probes/clock.c probes/notice.c config/arena.c)
probity_unit_test(stream SOURCES probes/stream.c probes/stream_text.c probes/tls_pipe.c ${TLS_SOURCES})
probity_unit_test(stream_tls SOURCES tests/unit/tls_bench.c probes/stream.c probes/tls_pipe.c ${TLS_SOURCES})
probity_unit_test(notice SOURCES probes/notice.c config/arena.c)
probity_unit_test(clock SOURCES probes/clock.c WRAP getrandom)
probity_unit_test(tls_session SOURCES ${TLS_SOURCES} WRAP clock_wall)
probity_unit_test(tcp_hear NO_VALGRIND SOURCES probes/tcp_hear.c ${MATCH_SOURCES}
  WRAP pcre2_jit_compile_8 pcre2_match_8)
probity_unit_test(sql SOURCES probes/sql.c probes/sql_judge.c probes/limits.c probes/time_limits.c ${MATCH_SOURCES}
  ${OUTCOME_SOURCES} ${FIELD_SOURCES})
set(DNS_MESSAGE_SOURCES probes/dns_message.c probes/dns_name.c probes/dns_record.c config/arena.c)
probity_unit_test(dns_message SOURCES ${DNS_MESSAGE_SOURCES})
probity_unit_test(dns_hostile SOURCES ${DNS_MESSAGE_SOURCES})
probity_unit_test(dns_judge NO_VALGRIND SOURCES probes/dns_judge.c probes/dns_rcode.c ${MATCH_SOURCES}
  WRAP pcre2_jit_compile_8 pcre2_match_8)
probity_unit_test(dns SOURCES tests/unit/dial_bench.c probes/dns.c probes/dns_udp.c probes/dns_tcp.c
  probes/dns_judge.c probes/dns_rcode.c ${DNS_MESSAGE_SOURCES} probes/attempts.c probes/dial.c probes/dial_address.c
  probes/stream.c probes/tls_pipe.c ${TLS_SOURCES} WRAP socket getsockopt)
probity_unit_test(redis_reply SOURCES probes/redis_reply.c config/arena.c)
probity_unit_test(redis_judge NO_VALGRIND SOURCES probes/redis_command.c probes/redis_conf.c probes/redis_judge.c
  probes/redis_reply.c probes/redis_state.c probes/limits.c probes/time_limits.c probes/tls_conf.c
  ${MATCH_SOURCES} ${TLS_SOURCES} ${FIELD_SOURCES} ${OUTCOME_SOURCES})
