# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# rnic_source_date(VARIABLE SOURCES): the date that everything built of these sources has, in seconds since 1970, so that two builds
# of one commit are equal: SOURCE_DATE_EPOCH if it is set, else the date of the commit, else that of the list of changes.
function(rnic_source_date variable sources)
  set(date "$ENV{SOURCE_DATE_EPOCH}")
  if(date STREQUAL "")
    execute_process(COMMAND git -C "${sources}" log -1 --format=%ct OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(date STREQUAL "")
    file(TIMESTAMP "${sources}/CHANGELOG.md" date "%s" UTC)
  endif()
  set(${variable} "${date}" PARENT_SCOPE)
endfunction()
