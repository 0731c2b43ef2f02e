# see ../CMakeLists.txt
probity_unit_test(curlev SOURCES probes/curlev.c config/arena.c WRAP close)
