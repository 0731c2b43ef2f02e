# Each test_*.py is one ctest entry, integration_NAME, driven by pytest against the built binary.
# RUN_SERIAL keeps one that measures time away from the others.
function(probity_integration_test name)
  cmake_parse_arguments(T "RUN_SERIAL" "TIMEOUT" "" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_test(NAME integration_${name}
    COMMAND ${TEST_PYTHON} -m pytest -q -p no:cacheprovider --tb=short
      ${CMAKE_CURRENT_SOURCE_DIR}/integration/test_${name}.py)
  set_tests_properties(integration_${name} PROPERTIES LABELS integration TIMEOUT ${T_TIMEOUT}
    ENVIRONMENT "PROBITY=$<TARGET_FILE:probity>;PROBITY_BUILD=${CMAKE_BINARY_DIR}")
  if(T_RUN_SERIAL)
    set_tests_properties(integration_${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

include(bench/bench.cmake)

probity_integration_test(lab)
probity_integration_test(layers)
probity_integration_test(schedule TIMEOUT 180)
probity_integration_test(load RUN_SERIAL)
probity_integration_test(readme)
probity_integration_test(agent_fake)
probity_integration_test(agent_outage)
probity_integration_test(agent_real)
probity_integration_test(http)
probity_integration_test(http_json)
probity_integration_test(http_tls)
probity_integration_test(script)
probity_integration_test(script_options)
probity_integration_test(script_values)
probity_integration_test(script_flood RUN_SERIAL)
probity_integration_test(tcp)
probity_integration_test(names)
probity_integration_test(status)
probity_integration_test(probe)
probity_integration_test(notify)
