# see ../CMakeLists.txt
probity_unit_test(schedule SOURCES runner/schedule.c)
probity_unit_test(threshold SOURCES runner/threshold.c)
probity_unit_test(run SOURCES runner/run.c config/arena.c config/units.c probes/clock.c
  probes/outcome.c probes/output.c probes/probe.c)
probity_unit_test(stall SOURCES runner/stall.c probes/clock.c WRAP clock_monotonic clock_boot)
probity_unit_test(state SOURCES runner/state.c config/arena.c probes/outcome.c probes/output.c)
probity_unit_test(verdict SOURCES runner/verdict.c config/arena.c config/units.c
  probes/outcome.c probes/output.c)
