# What the programs work on: this source tree.
target_compile_definitions(bench_programs PRIVATE CAIRN_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")
