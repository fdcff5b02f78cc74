# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Writes a header with the commit that is built: cmake -DSOURCE=... -DHEADER=... -P commit_header.cmake
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=40 --exclude=*
                OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE STATUS)
if(NOT STATUS EQUAL 0 OR COMMIT STREQUAL "")
  set(COMMIT unknown)
endif()
file(CONFIGURE OUTPUT "${HEADER}" @ONLY CONTENT [[
#pragma once
namespace base {
inline constexpr const char* built_commit = "@COMMIT@";
}
]])
