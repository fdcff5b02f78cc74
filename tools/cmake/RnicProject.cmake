# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# What every component shares: language level, warnings, sanitizers, and the two functions that declare a component.

include(CheckIPOSupported)
include("${CMAKE_CURRENT_LIST_DIR}/RnicCompilerCache.cmake")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(RNIC_REQUIRE_ALL "Fail when a part would be left out for want of a package" OFF)
option(RNIC_PROTOCOL_ONLY "Build only the protocol (base to reference_rnic/access) and its tests" OFF)
set(RNIC_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")

add_library(rnic_options INTERFACE)
target_include_directories(rnic_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_definitions(rnic_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
# A warning is an error for those who work on the project, not for those who build a release with a compiler that warns of more.
target_compile_options(rnic_options INTERFACE -Wall -Wextra -Wconversion -Wshadow $<$<CONFIG:Debug>:-Werror>)
# GCC 12 at -O2 reports moves of std::variant as uses of uninitialized values, and copies of a std::string whose header is
# precompiled as out of bounds.
target_compile_options(rnic_options INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-maybe-uninitialized;-Wno-array-bounds>")
# Assertions name their file by its path in the source tree, wherever that is: two builds of one commit are equal. A compiler
# cache may have made the path relative to the build folder.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE from_build)
target_compile_options(rnic_options INTERFACE
  "$<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=;-ffile-prefix-map=${from_build}/=>")
# What leads from a symbol to its code cannot be overwritten once a program has begun: it reads what peers send.
target_link_options(rnic_options INTERFACE $<$<CONFIG:Release>:LINKER:-z,now>)
# GCC's linker would optimise across whatever can be, in every program: see rnic_optimise_across.
target_link_options(rnic_options INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:RNIC_OPTIMISED_ACROSS>>>>:-fno-lto>")
# Clang reports to the caller of std::stable_sort what libstdc++ 12 uses within it.
target_compile_options(rnic_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# GCC collects its garbage whenever its memory has grown by a part of what it has: from here on (KiB), not from its usual 128 MiB.
# It saves a tenth of the time to compile.
target_compile_options(rnic_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
if(RNIC_SANITIZE)
  # A finding of a sanitizer ends the program: otherwise UBSan would print it and continue, and the test would pass.
  target_compile_options(rnic_options INTERFACE
    -fsanitize=${RNIC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rnic_options INTERFACE -fsanitize=${RNIC_SANITIZE})
  # With sanitizers only, GCC 12 reports that std::regex of its own library uses uninitialized values.
  target_compile_options(rnic_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# rnic_timeout(SECONDS TEST ...): when the tests of this folder are given up; with sanitizers, which slow them down, later by a factor.
function(rnic_timeout seconds)
  if(RNIC_SANITIZE)
    math(EXPR seconds "${seconds} * 5")
  endif()
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${seconds})
endfunction()

# rnic_library(NAME [PRECOMPILE header.hpp] SOURCES a.cpp ... LIBS x ...): the static library of one component. PRECOMPILE: a header
# of the project that nearly all files of a large component include.
function(rnic_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILE" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC rnic_options ${ARG_LIBS})
  if(ARG_PRECOMPILE)
    rnic_precompile_for(${name} ${ARG_PRECOMPILE})
  else()
    rnic_precompiled(${name} rnic_library_headers)
  endif()
endfunction()

# rnic_optimise_across(PROGRAM LIBRARY...): in a release, the program is optimised as a whole with these libraries. They also hold
# ordinary code, with which other programs are linked as before (-fno-lto above).
function(rnic_optimise_across program)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  check_ipo_supported(RESULT supported OUTPUT why LANGUAGES CXX)
  if(NOT supported)
    message(STATUS "${program} is not optimised across its libraries: ${why}")
    return()
  endif()
  foreach(library ${ARGN})
    target_compile_options(${library} PRIVATE -flto=auto -ffat-lto-objects)
  endforeach()
  target_link_options(${program} PRIVATE -flto=auto)
  set_target_properties(${program} PROPERTIES RNIC_OPTIMISED_ACROSS ON)
endfunction()

# rnic_optimise_across_rnic(PROGRAM): the same for a program or module that has the reference RNIC in it, and for its own files. A message
# passes through a hundred short functions of these libraries.
function(rnic_optimise_across_rnic program)
  rnic_optimise_across(${program} ${program} base rnic_wire rnic_llp rnic_stream rnic_verbs rnic_access)
endfunction()

# rnic_test(NAME SOURCES a.cpp ... LIBS x ...): one Boost.Test program, registered with ctest.
# The sources need no main: rnic_test_main has one.
function(rnic_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE rnic_options ${ARG_LIBS} rnic_test_main)
  rnic_precompiled(${name} rnic_test_headers)
  # The code under test is in libraries; to optimise the tests themselves takes longer than to run them as they are.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
  add_test(NAME ${name} COMMAND ${name} --catch_system_errors=no --color_output=no)
  rnic_timeout(300 ${name})
endfunction()

# One line for each part that is left out, for tools/build.sh and run_tests.sh.
set(RNIC_LEFT_OUT "${PROJECT_BINARY_DIR}/left_out.txt")
file(WRITE "${RNIC_LEFT_OUT}" "")

# rnic_optional(FOUND_VARIABLE PART PACKAGES): reports that the part is left out and what to install, or fails if all parts are required.
function(rnic_optional found part packages)
  if(NOT ${found})
    if(RNIC_REQUIRE_ALL)
      message(FATAL_ERROR "${part} cannot be built: install ${packages}")
    endif()
    message(STATUS "${part} is left out: install ${packages} to build it")
    file(APPEND "${RNIC_LEFT_OUT}" "${part}: install ${packages}\n")
  endif()
endfunction()

# rnic_find_programs(FOUND_VARIABLE PROGRAM...): whether all of them are here; FOUND_VARIABLE_MISSING has the names of the others.
function(rnic_find_programs found)
  set(missing "")
  foreach(program ${ARGN})
    find_program(RNIC_PROGRAM_${program} ${program} PATHS /usr/sbin /sbin)
    mark_as_advanced(RNIC_PROGRAM_${program})
    if(NOT RNIC_PROGRAM_${program})
      list(APPEND missing ${program})
    endif()
  endforeach()
  list(JOIN missing ", " ${found}_MISSING)
  set(${found}_MISSING "${${found}_MISSING}" PARENT_SCOPE)
  if(missing)
    set(${found} OFF PARENT_SCOPE)
  else()
    set(${found} ON PARENT_SCOPE)
  endif()
endfunction()

find_package(Boost 1.74 REQUIRED COMPONENTS unit_test_framework)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(yaml-cpp REQUIRED)
# Debian's python3-* packages serve Debian's interpreter, whatever else is first in PATH.
if(EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The interpreter that has the packages")
endif()
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# For code that C calls, or that calls as C may: there a parameter of an enumeration may have any value. To be linked last.
add_library(rnic_enums_of_c INTERFACE)
if(RNIC_SANITIZE)
  target_compile_options(rnic_enums_of_c INTERFACE -fno-sanitize=enum)
endif()

add_library(rnic_test_main STATIC "${PROJECT_SOURCE_DIR}/tools/cmake/test_main.cpp")
target_link_libraries(rnic_test_main PUBLIC Boost::unit_test_framework)
target_compile_definitions(rnic_test_main PUBLIC BOOST_TEST_DYN_LINK)

# Headers of other projects that most files include, precompiled once for all libraries and once for all tests: they are most of
# what a compiler reads. A file still includes all that it uses: with RNIC_PRECOMPILE=OFF nothing is included for it.
option(RNIC_PRECOMPILE "Precompile the headers of other projects that most files include" ON)
if(RNIC_SANITIZE)
  set(RNIC_PRECOMPILE OFF)  # some targets differ in their sanitizers
endif()
if(RNIC_PRECOMPILE)
  set(RNIC_COMMON_HEADERS <algorithm> <array> <bit> <chrono> <cstdint> <deque> <expected> <filesystem> <functional> <map> <memory> <optional>
    <ranges> <set> <span> <string> <string_view> <tuple> <utility> <variant> <vector> <fmt/format.h>)
  set(no_code "${PROJECT_BINARY_DIR}/generated/no_code.cpp")
  file(CONFIGURE OUTPUT "${no_code}" CONTENT "")
  add_library(rnic_library_headers STATIC "${no_code}")
  target_link_libraries(rnic_library_headers PRIVATE rnic_options fmt::fmt)
  target_precompile_headers(rnic_library_headers PRIVATE ${RNIC_COMMON_HEADERS})
  # A program's code is position independent in another way than a library's.
  add_executable(rnic_test_headers "${no_code}")
  target_compile_options(rnic_test_headers PRIVATE $<$<CONFIG:Debug>:-O0>)
  target_link_libraries(rnic_test_headers PRIVATE rnic_options fmt::fmt rnic_test_main)
  target_precompile_headers(rnic_test_headers PRIVATE ${RNIC_COMMON_HEADERS} <boost/test/unit_test.hpp>)
endif()

# rnic_precompiled(TARGET HEADERS): TARGET uses the headers that target HEADERS has precompiled.
function(rnic_precompiled name headers)
  if(RNIC_PRECOMPILE)
    target_precompile_headers(${name} REUSE_FROM ${headers})
    # What is defined for fmt must be defined for all that include it by the precompiled headers.
    target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  endif()
endfunction()

# rnic_precompile_for(TARGET HEADER): TARGET precompiles for itself what all have precompiled, and HEADER of the project.
function(rnic_precompile_for name header)
  if(RNIC_PRECOMPILE)
    target_precompile_headers(${name} PRIVATE ${RNIC_COMMON_HEADERS} <${header}>)
  endif()
endfunction()
