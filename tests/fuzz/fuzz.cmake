# probity_fuzz(NAME)
# builds fuzz/fuzz_NAME.c with a main() that replays the files of fuzz/NAME, run by ctest as
# fuzz_NAME: seeds, and whatever once crashed. With PROBITY_FUZZ (clang) the target
# fuzz_NAME_run lets libFuzzer look for more, FUZZ_SECONDS long; what it finds belongs into
# fuzz/NAME.
set(FUZZ_SECONDS 60 CACHE STRING "How long each fuzzer runs")
set(FUZZ_FOLDER ${CMAKE_CURRENT_LIST_DIR})
file(GLOB FUZZ_SOURCES ${CMAKE_SOURCE_DIR}/config/*.c ${CMAKE_SOURCE_DIR}/probes/*.c
  ${CMAKE_SOURCE_DIR}/runner/settings*.c)

if(PROBITY_FUZZ)
  # All sources once more: the fuzzer follows what it can see.
  add_library(fuzz_sources OBJECT ${FUZZ_SOURCES})
  target_link_libraries(fuzz_sources PUBLIC probity_flags probity_libraries)
  target_compile_options(fuzz_sources PRIVATE -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=all -U_FORTIFY_SOURCE)
  add_custom_target(fuzz)
endif()

function(probity_fuzz name)
  add_executable(fuzz_${name}_replay ${FUZZ_FOLDER}/fuzz_${name}.c ${FUZZ_FOLDER}/replay.c
    $<TARGET_OBJECTS:probity_config> $<TARGET_OBJECTS:probity_probes>
    $<FILTER:$<TARGET_OBJECTS:probity_runner>,INCLUDE,/settings[a-z_]*\\.c>)
  target_link_libraries(fuzz_${name}_replay PRIVATE probity_flags probity_libraries)
  add_test(NAME fuzz_${name} COMMAND fuzz_${name}_replay ${FUZZ_FOLDER}/${name})
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 60)
  if(PROBITY_FUZZ)
    add_executable(fuzz_${name} ${FUZZ_FOLDER}/fuzz_${name}.c $<TARGET_OBJECTS:fuzz_sources>)
    target_link_libraries(fuzz_${name} PRIVATE probity_flags probity_libraries)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined
      -fno-sanitize-recover=all -U_FORTIFY_SOURCE)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/corpus/${name})
    # New inputs go into the build folder, only findings are worth keeping.
    add_custom_target(fuzz_${name}_run COMMAND fuzz_${name} -max_total_time=${FUZZ_SECONDS}
      -timeout=10 -max_len=4096 -print_final_stats=1
      -artifact_prefix=${CMAKE_BINARY_DIR}/corpus/${name}-
      ${CMAKE_BINARY_DIR}/corpus/${name} ${FUZZ_FOLDER}/${name} USES_TERMINAL VERBATIM)
    add_dependencies(fuzz fuzz_${name}_run)
  endif()
endfunction()

probity_fuzz(load)
probity_fuzz(units)
probity_fuzz(match)
probity_fuzz(perfdata)
probity_fuzz(redis)
probity_fuzz(json)
probity_fuzz(dns)
probity_fuzz(grpc)
