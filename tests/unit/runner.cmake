# see ../CMakeLists.txt
probity_unit_test(schedule SOURCES runner/schedule.c)
probity_unit_test(threshold SOURCES runner/threshold.c)
probity_unit_test(compose SOURCES runner/compose.c ${OUTCOME_SOURCES})
probity_unit_test(run SOURCES runner/run.c config/arena.c config/units.c probes/clock.c
  ${OUTCOME_SOURCES} probes/probe.c)
probity_unit_test(stall SOURCES runner/stall.c probes/clock.c WRAP clock_monotonic clock_boot)
probity_unit_test(state SOURCES runner/state.c config/arena.c ${OUTCOME_SOURCES})
probity_unit_test(verdict SOURCES runner/verdict.c probes/time_limits.c ${FIELD_SOURCES}
  ${OUTCOME_SOURCES})
probity_unit_test(sighting SOURCES runner/sighting.c)
probity_unit_test(publish SOURCES runner/publish.c config/arena.c)
probity_unit_test(register SOURCES runner/register.c config/arena.c ${OUTCOME_SOURCES} probes/secret.c)
probity_unit_test(agent_queue SOURCES runner/agent_queue.c probes/clock.c)
probity_unit_test(consul_text SOURCES runner/consul_text.c config/arena.c probes/output.c)
set(CONSUL_SOURCES tests/unit/consul_bench.c runner/consul.c runner/consul_call.c
  runner/consul_sockets.c runner/consul_text.c runner/consul_tls.c runner/consul_token.c config/arena.c probes/clock.c probes/curlev.c
  probes/http_tls.c ${TLS_SOURCES} ${OUTCOME_SOURCES} probes/secret.c)
probity_unit_test(consul SOURCES ${CONSUL_SOURCES})
probity_unit_test(consul_forms SOURCES ${CONSUL_SOURCES})
set(AGENT_SOURCES tests/unit/agent_bench.c tests/unit/agent_fake.c runner/agent.c runner/agent_answer.c
  runner/agent_check.c runner/agent_echo.c runner/agent_inventory.c runner/agent_queue.c runner/agent_readback.c runner/agent_reap.c runner/agent_reload.c
  runner/agent_seen.c runner/agent_service.c runner/agent_stop.c runner/agent_view.c runner/agent_vigil.c
  runner/publish.c runner/register.c runner/sighting.c runner/unit_state.c runner/watchdog.c config/arena.c config/units.c probes/clock.c
  ${OUTCOME_SOURCES} probes/secret.c)
# They wait for whole seconds; the sanitizers look for leaks.
probity_unit_test(agent NO_VALGRIND SOURCES ${AGENT_SOURCES})
probity_unit_test(agent_owner NO_VALGRIND SOURCES ${AGENT_SOURCES} WRAP clock_monotonic)
probity_unit_test(agent_readback NO_VALGRIND SOURCES ${AGENT_SOURCES} WRAP clock_monotonic)
probity_unit_test(agent_trouble NO_VALGRIND SOURCES ${AGENT_SOURCES})
probity_unit_test(agent_stop NO_VALGRIND SOURCES ${AGENT_SOURCES}
  WRAP unit_state_ask unit_state_cancel)
probity_unit_test(unit_state SOURCES runner/unit_state.c config/arena.c probes/clock.c)
probity_unit_test(id_lock)
target_sources(unit_id_lock PRIVATE $<TARGET_OBJECTS:probity_config>
  $<TARGET_OBJECTS:probity_probes> $<TARGET_OBJECTS:probity_runner>)
probity_unit_test(log SOURCES runner/log.c config/arena.c probes/output.c WRAP write)
probity_unit_test(report SOURCES runner/report.c config/arena.c ${OUTCOME_SOURCES})
probity_unit_test(table SOURCES runner/table.c config/arena.c)
probity_unit_test(probe_table SOURCES runner/probe_table.c runner/waterfall.c runner/table.c config/arena.c
  ${OUTCOME_SOURCES})
probity_unit_test(control_socket SOURCES runner/control_socket.c config/arena.c WRAP bind listen)
# Under valgrind it would measure valgrind; the sanitizers look for leaks.
probity_unit_test(control NO_VALGRIND SOURCES runner/control.c runner/control_socket.c runner/report.c
  config/arena.c ${OUTCOME_SOURCES})
# The settings reach into all three floors.
probity_unit_test(settings)
target_sources(unit_settings PRIVATE $<TARGET_OBJECTS:probity_config>
  $<TARGET_OBJECTS:probity_probes> $<TARGET_OBJECTS:probity_runner>)
probity_unit_test(watchdog SOURCES runner/watchdog.c)
probity_unit_test(notify SOURCES runner/notify.c config/arena.c ${OUTCOME_SOURCES})
