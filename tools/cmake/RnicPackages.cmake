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
set(same "(= ${PROJECT_VERSION})")

# rnic_package(COMPONENT NAME SUMMARY TEXT): the package of a component, with the licence where Debian expects it.
function(rnic_package component name summary text)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/${name} RENAME copyright COMPONENT ${component})
endfunction()

rnic_package(suite rnic-suite "conformance suite and plugfest harness for iWARP RNICs"
             "Judges an implementation of MPA, DDP and RDMAP on the wire, rule by rule, with the octets that prove each verdict.")
set(CPACK_DEBIAN_SUITE_PACKAGE_DEPENDS "rnic-agent ${same}, python3, python3-jinja2, python3-yaml, iproute2, ethtool, util-linux")
set(CPACK_DEBIAN_SUITE_PACKAGE_RECOMMENDS "librnic-dat2 ${same}, rnic-suite-doc")
set(CPACK_DEBIAN_SUITE_PACKAGE_SUGGESTS
    "rnic-wireshark-plugin, openssl, qemu-system-x86, busybox-static, ibverbs-providers, make, gcc-12, cpio, kmod, openssh-client")

rnic_package(agent rnic-agent "the conformance suite's agent for the host of the implementation under test"
             "Drives the verbs or DAT API of an RNIC by commands on its standard input.")

rnic_package(doc rnic-suite-doc "documentation of the RNIC conformance suite" "How to judge an implementation, write an agent, read a trace, hold a plugfest.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)

if(TARGET rnic_dat)
  list(APPEND CPACK_COMPONENTS_ALL dat dev)
  rnic_package(dat librnic-dat2 "DAT 2.0 provider over the suite's reference RNIC" "A software RNIC over TCP that libdat2 loads.")
  set(CPACK_DEBIAN_DAT_PACKAGE_SECTION libs)
  rnic_package(dev librnic-dat-dev "the iWARP extension of librnic-dat2, for C and C++" "Service points and connects over a TCP socket that the program already has.")
  set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "librnic-dat2 ${same}, libdapl-dev")
endif()
if(TARGET rnic_iwarp)
  list(APPEND CPACK_COMPONENTS_ALL wireshark)
  rnic_package(wireshark rnic-wireshark-plugin "judges iWARP traffic in Wireshark and tshark" "Shows each broken rule with RFC, section and frame, by the engine of rnic-lint.")
endif()
include(CPack)
