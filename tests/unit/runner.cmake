# see ../CMakeLists.txt
probity_unit_test(schedule SOURCES runner/schedule.c)
probity_unit_test(threshold SOURCES runner/threshold.c)
