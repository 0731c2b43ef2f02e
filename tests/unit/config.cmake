# see ../CMakeLists.txt
