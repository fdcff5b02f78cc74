# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Fuzz targets. Each is one source with LLVMFuzzerTestOneInput and a folder of seeds. Every build replays the seeds,
# and every truncation of them, as a test; a build for fuzzing also makes the libFuzzer program and ways to run it:
#   cmake --preset asan -B build/fuzz -DRNIC_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++-19
#   cmake --build build/fuzz --target fuzz_run_all        (each target for RNIC_FUZZ_SECONDS, one after the other)
#   cmake --build build/fuzz --target fuzz_run_NAME       (one of them)
# What libFuzzer finds lies in build/fuzz/fuzz/NAME; a find worth keeping goes into the seeds.
include_guard(GLOBAL)

option(RNIC_FUZZ "Build the fuzz targets with libFuzzer (needs clang++-19)" OFF)
set(RNIC_FUZZ_SECONDS 60 CACHE STRING "How long fuzz_run_all runs each target")

if(RNIC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "RNIC_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
  # Coverage feedback in all that the targets link; the fuzzer's own main only in the targets.
  target_compile_options(rnic_options INTERFACE -fsanitize=fuzzer-no-link)
  add_custom_target(fuzz_run_all)
endif()

# rnic_fuzz_target(NAME SOURCE a.cpp CORPUS folder LIBS x ...)
function(rnic_fuzz_target name)
  cmake_parse_arguments(ARG "" "SOURCE;CORPUS" "LIBS" ${ARGN})
  cmake_path(ABSOLUTE_PATH ARG_CORPUS NORMALIZE)

  add_executable(${name}_replay ${ARG_SOURCE} "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fuzz_replay.cpp")
  target_link_libraries(${name}_replay PRIVATE rnic_options ${ARG_LIBS})
  add_test(NAME ${name}_replay COMMAND ${name}_replay "${ARG_CORPUS}")
  rnic_timeout(120 ${name}_replay)

  if(RNIC_FUZZ)
    add_executable(${name} ${ARG_SOURCE})
    target_link_libraries(${name} PRIVATE rnic_options ${ARG_LIBS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(found "${PROJECT_BINARY_DIR}/fuzz/${name}")
    file(MAKE_DIRECTORY "${found}")
    set(run ${name} -max_total_time=${RNIC_FUZZ_SECONDS} -max_len=4096 -print_final_stats=1
            "-artifact_prefix=${found}/" "${found}" "${ARG_CORPUS}")
    # The terminal is one, so that the runs of fuzz_run_all follow one another.
    add_custom_target(fuzz_run_${name} COMMAND ${run} USES_TERMINAL VERBATIM)
    add_dependencies(fuzz_run_all fuzz_run_${name})
  endif()
endfunction()
