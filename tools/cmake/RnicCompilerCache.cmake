# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Compiles through ccache, if it is installed.

find_program(RNIC_CCACHE ccache)
if(RNIC_CCACHE)
  # It takes a precompiled header by its content, and defines no __TIME__.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      "${CMAKE_CURRENT_LIST_DIR}/compile_cached.sh" "${RNIC_CCACHE}")
endif()
