# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Fuzz targets. Each is one source with LLVMFuzzerTestOneInput and a folder of seeds. A test of every build replays the seeds
# and every truncation of them; a build for fuzzing also makes the libFuzzer program, and a file with which
# tools/fuzz.sh finds it and its seeds.
include_guard(GLOBAL)

option(RNIC_FUZZ "Build the fuzz targets with libFuzzer (needs clang++-19)" OFF)

if(RNIC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "RNIC_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
  # Coverage feedback in all that the targets link; the fuzzer's own main only in the targets.
  target_compile_options(rnic_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# rnic_fuzz_target(NAME SOURCE a.cpp CORPUS folder LIBS x ...)
function(rnic_fuzz_target name)
  cmake_parse_arguments(ARG "" "SOURCE;CORPUS" "LIBS" ${ARGN})
  cmake_path(ABSOLUTE_PATH ARG_CORPUS NORMALIZE)

  add_executable(${name}_replay ${ARG_SOURCE} "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fuzz_replay.cpp")
  target_link_libraries(${name}_replay PRIVATE rnic_options ${ARG_LIBS})
  add_test(NAME ${name}_replay COMMAND ${name}_replay "${ARG_CORPUS}")
  rnic_timeout(300 ${name}_replay)

  if(RNIC_FUZZ)
    add_executable(${name} ${ARG_SOURCE})
    target_link_libraries(${name} PRIVATE rnic_options ${ARG_LIBS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/fuzz/${name}.run"
         CONTENT "program=('$<TARGET_FILE:${name}>')\ncorpus='${ARG_CORPUS}'\n")
  endif()
endfunction()
