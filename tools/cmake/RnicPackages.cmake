# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# `cpack` in the build folder: a Debian package of each component of RnicInstall.cmake. dpkg-shlibdeps adds a dependency for each
# library that a program is linked with; what a program starts or reads is listed here.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rnic-suite)
set(CPACK_PACKAGE_VENDOR "The RNIC Conformance Suite")
set(CPACK_PACKAGE_CONTACT "RNIC Conformance Suite maintainers <maintainers@rnic-suite.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each component has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_COMPONENTS_ALL suite agent doc)
set(CPACK_RNIC_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(CPACK_POST_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/finish_packages.cmake")
set(same "(= ${PROJECT_VERSION})")

# rnic_package(COMPONENT NAME SUMMARY TEXT): the package of a component, with the licence where Debian expects it, and why lintian
# is wrong about it.
function(rnic_package component name summary text)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/${name} RENAME copyright COMPONENT ${component})
  set(overrides "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}.lintian-overrides")
  if(EXISTS "${overrides}")
    install(FILES "${overrides}" DESTINATION share/lintian/overrides RENAME ${name} COMPONENT ${component})
  endif()
endfunction()

rnic_package(suite rnic-suite "conformance suite and plugfest harness for iWARP RNICs"
             "Judges an implementation of MPA, DDP and RDMAP on the wire, rule by rule,
with the octets that prove each verdict; judges captures; and plays
implementations against each other.")
set(CPACK_DEBIAN_SUITE_PACKAGE_DEPENDS "rnic-agent ${same}, python3, python3-jinja2, python3-yaml, iproute2, ethtool")
set(CPACK_DEBIAN_SUITE_PACKAGE_RECOMMENDS "librnic-dat2 ${same}, rnic-suite-doc")
set(CPACK_DEBIAN_SUITE_PACKAGE_SUGGESTS
    "rnic-wireshark-plugin, openssl, qemu-system-x86, busybox-static, ibverbs-providers, make, gcc-12, cpio, kmod, openssh-client")

rnic_package(agent rnic-agent "agent of the RNIC conformance suite for the implementation under test"
             "Drives the verbs or DAT API of an RNIC by commands on its standard input.
rnic-suite starts it on the host of the implementation, by ssh or by hand.")
# What rnic-suite asks for the addresses and ports of that host.
set(CPACK_DEBIAN_AGENT_PACKAGE_RECOMMENDS "iproute2, ethtool")

rnic_package(doc rnic-suite-doc "documentation of the RNIC conformance suite"
             "How to judge an implementation, write an agent, read a trace and hold a
plugfest, with examples of CI jobs.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)

if(TARGET rnic_dat)
  list(APPEND CPACK_COMPONENTS_ALL dat dev)
  rnic_package(dat librnic-dat2 "DAT 2.0 provider over the suite's reference RNIC" "A software RNIC over TCP that libdat2 loads, for programs that use the
DAT API and have no RNIC, and as a target to try the suite on.")
  set(CPACK_DEBIAN_DAT_PACKAGE_SECTION libs)
  rnic_package(dev librnic-dat-dev "iWARP extension of librnic-dat2 for C and C++"
               "Service points and connects over a TCP socket that the program already
has.")
  set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "librnic-dat2 ${same}, libdapl-dev")
endif()
if(TARGET rnic_iwarp)
  list(APPEND CPACK_COMPONENTS_ALL wireshark)
  rnic_package(wireshark rnic-wireshark-plugin "iWARP in Wireshark and tshark, judged rule by rule"
               "Shows each broken rule with RFC, section and frame, by the engine of
rnic-lint.")
endif()
include(CPack)

# All that `cmake --install` and `cpack` take.
add_custom_target(rnic_installed DEPENDS rnic_programs seen_to_fail)
if(TARGET dat_seen_to_fail)
  add_dependencies(rnic_installed dat_seen_to_fail)
endif()
