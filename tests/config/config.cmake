add_test(NAME config_cases
  COMMAND ${TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/config/run.py $<TARGET_FILE:probity>)
set_tests_properties(config_cases PROPERTIES LABELS config TIMEOUT 240)
