# see CMakeLists.txt
set(YAML_SOURCES config/arena.c config/diag.c config/yaml.c config/yaml_bytes.c
  config/yaml_mapping.c config/yaml_syntax.c)
set(FIELD_SOURCES ${YAML_SOURCES} config/field.c config/field_print.c config/field_report.c
  config/field_schema.c config/field_shown.c config/field_text.c config/hostport.c config/kinds_endpoint.c
  config/kinds_list.c config/kinds_map.c config/kinds_number.c config/kinds_oneof.c
  config/kinds_secret.c config/kinds_text.c config/kinds_units.c config/kinds_url.c
  config/suggest.c config/units.c tests/unit/config_bench.c)
probity_unit_test(arena SOURCES config/arena.c WRAP calloc)
probity_unit_test(diag SOURCES config/arena.c config/diag.c)
probity_unit_test(suggest SOURCES config/suggest.c)
probity_unit_test(units SOURCES config/units.c)
probity_unit_test(yaml SOURCES ${YAML_SOURCES})
# Not under valgrind: megabytes of YAML take it half a minute, and hold nothing that is new.
probity_unit_test(yaml_budget NO_VALGRIND SOURCES ${YAML_SOURCES})
probity_unit_test(yaml_file SOURCES ${YAML_SOURCES} WRAP fstat read close)
probity_unit_test(field SOURCES ${FIELD_SOURCES})
probity_unit_test(kinds SOURCES ${FIELD_SOURCES})
probity_unit_test(kinds_map SOURCES ${FIELD_SOURCES})
probity_unit_test(kinds_url SOURCES ${FIELD_SOURCES})
probity_unit_test(kinds_secret SOURCES ${FIELD_SOURCES})
probity_unit_test(schema SOURCES ${FIELD_SOURCES})
probity_unit_test(lint SOURCES ${FIELD_SOURCES} config/lint.c)

# Every row of the program is linted: all of it but main().
probity_unit_test(tables)
target_sources(unit_tables PRIVATE $<TARGET_OBJECTS:probity_config>
  $<TARGET_OBJECTS:probity_probes> $<TARGET_OBJECTS:probity_runner>)
target_compile_definitions(unit_tables PRIVATE
  SEED_FOLDER="${CMAKE_SOURCE_DIR}/tests/fuzz/load")
