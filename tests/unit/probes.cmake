# see ../CMakeLists.txt
probity_unit_test(curlev SOURCES probes/curlev.c config/arena.c WRAP close)
probity_unit_test(dial SOURCES probes/dial.c probes/dial_address.c probes/clock.c config/arena.c WRAP socket getsockopt)
