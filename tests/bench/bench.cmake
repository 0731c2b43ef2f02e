# What the measurements run against: a target, and the floor that libcurl on libev sets.
add_executable(bench_target bench/target.c)
add_executable(bench_floor bench/floor.c)
foreach(program bench_target bench_floor)
  target_link_libraries(${program} PRIVATE probity_flags PkgConfig::CURL ${EV_LIBRARY})
endforeach()
