# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Where `cmake --install` puts the files of all components. Programs find their files relative to themselves
# (base/shipped_file.hpp), so that a prefix can be moved: PREFIX/share/rnic-suite has the files of the source tree under
# their paths there, PREFIX/lib/rnic-suite the programs and modules that users do not start by hand.
include(GNUInstallDirs)
set(CMAKE_INSTALL_DOCDIR share/doc/rnic-suite)
set(RNIC_SHARE share/rnic-suite)
set(RNIC_PRIVATE lib/rnic-suite)

# All programs and modules that users have, and for run_suite.sh the places of the programs in the build folder.
add_custom_target(rnic_programs)
file(WRITE "${PROJECT_BINARY_DIR}/programs.txt" "")

# rnic_install(COMPONENT DESTINATION TARGET...): those of the targets that this build has.
function(rnic_install component destination)
  foreach(target ${ARGN})
    if(TARGET ${target})
      install(TARGETS ${target} RUNTIME DESTINATION ${destination} COMPONENT ${component}
              LIBRARY DESTINATION ${destination} COMPONENT ${component})
      add_dependencies(rnic_programs ${target})
      if(destination STREQUAL CMAKE_INSTALL_BINDIR)
        get_target_property(folder ${target} BINARY_DIR)
        cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_BINARY_DIR}")
        file(APPEND "${PROJECT_BINARY_DIR}/programs.txt" "${folder}/${target}\n")
      endif()
    endif()
  endforeach()
endfunction()

# rnic_install_shipped(PATH...): files of the source tree that the programs read.
function(rnic_install_shipped)
  foreach(path ${ARGN})
    cmake_path(GET path PARENT_PATH folder)
    install(PROGRAMS "${PROJECT_SOURCE_DIR}/${path}" DESTINATION "${RNIC_SHARE}/${folder}" COMPONENT suite)
  endforeach()
endfunction()

# rnic_install_folder(FOLDER PATTERN...): files of one folder of the source tree, without those below it.
function(rnic_install_folder folder)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/${folder}/" OUTPUT_VARIABLE patterns)
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  install(FILES ${files} DESTINATION "${RNIC_SHARE}/${folder}" COMPONENT suite)
endfunction()

rnic_install(suite ${CMAKE_INSTALL_BINDIR} rnic-suite rnic-plugfest rnic-lint rnic-scrub rnic-run rnic-self-test rnic-lab
             rnic-await-agent)
rnic_install(suite ${RNIC_PRIVATE} rnic-guestd rnic-guest-agent rnic_rdma_core)
# For the host of the implementation under test: few dependencies.
rnic_install(agent ${CMAKE_INSTALL_BINDIR} rnic-agent rnic-dat-cases)

# Manual pages of each program and its commands, made of what --help says.
find_program(RNIC_HELP2MAN help2man)
include(RnicSourceDate)
rnic_source_date(RNIC_SOURCE_DATE "${PROJECT_SOURCE_DIR}")
function(rnic_manual component target sentence)
  if(NOT RNIC_HELP2MAN OR NOT TARGET ${target})
    return()
  endif()
  set(pages "${PROJECT_BINARY_DIR}/man/${target}")
  set(script "${PROJECT_SOURCE_DIR}/tools/manual_pages.sh")
  add_custom_command(OUTPUT "${pages}/${target}.1" DEPENDS ${target} "${script}"
    COMMAND "${CMAKE_COMMAND}" -E env SOURCE_DATE_EPOCH=${RNIC_SOURCE_DATE}
            "${script}" "${RNIC_HELP2MAN}" "${PROJECT_VERSION}" "${sentence}" "$<TARGET_FILE:${target}>" "${pages}"
    VERBATIM)
  add_custom_target(${target}_manual ALL DEPENDS "${pages}/${target}.1")
  add_dependencies(rnic_programs ${target}_manual)
  install(DIRECTORY "${pages}/" DESTINATION share/man/man1 COMPONENT ${component})
endfunction()
rnic_manual(suite rnic-suite "judge an implementation of iWARP on the wire")
rnic_manual(suite rnic-plugfest "play implementations of iWARP against each other")
rnic_manual(suite rnic-lint "judge captured iWARP traffic")
rnic_manual(suite rnic-scrub "take payload and addresses out of a capture")
rnic_manual(suite rnic-run "run a verbs program on the reference RNIC")
rnic_manual(suite rnic-self-test "show that each case can fail")
rnic_manual(suite rnic-lab "boot soft-iWARP in a guest")
rnic_manual(suite rnic-await-agent "let an agent connect over TLS")
rnic_manual(agent rnic-agent "drive the API of an RNIC for rnic-suite")
rnic_manual(agent rnic-dat-cases "run one case of the DAT API")

# Bash looks for the completion of a command under its name.
function(rnic_completion component)
  foreach(program ${ARGN})
    install(FILES "${PROJECT_SOURCE_DIR}/tools/completion/rnic-suite.bash" DESTINATION share/bash-completion/completions
            RENAME ${program} COMPONENT ${component})
  endforeach()
endfunction()
rnic_completion(suite rnic-suite rnic-plugfest rnic-lint rnic-scrub rnic-run rnic-self-test rnic-lab rnic-await-agent)
rnic_completion(agent rnic-agent rnic-dat-cases)

rnic_install_folder(rules *.yaml *.csv catalogue_files.py)
rnic_install_folder(suite/expectations *.yaml)
rnic_install_folder(suite/iut/pics *.yaml *.json)
rnic_install_folder(suite/self_test [a-z]*.txt)
rnic_install_folder(suite/cases renamed_cases.def)
rnic_install_folder(plugfest/events *.yaml)
rnic_install_folder(plugfest/schema *.json)
rnic_install_folder(reports/rnic_reports *.py)
rnic_install_folder(reports/templates *.j2 *.css *.js)
rnic_install_folder(reports/schema *.json)
rnic_install_folder(reference_rnic/deviants deviations.def)
rnic_install_folder(suite/editions *.json)
rnic_install_folder(suite/lab/siw_vm *.config README.md)
rnic_install_folder(docs disputes.md)  # which `rnic-suite dispute` quotes
rnic_install_shipped(reports/render.py reports/render_plugfest.py reports/bundle_plugfest.py reports/verify_bundle.py reports/serve_plugfest.py reports/compare_plugfests.py reports/compare_runs.py reports/render_history.py reports/render_statement.py
                     tools/gate.sh)
file(GLOB scripts CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/suite/lab/siw_vm" suite/lab/siw_vm/*.sh)
foreach(script ${scripts} guest/init guest/siw-configure guest/siw-variant)
  rnic_install_shipped(suite/lab/siw_vm/${script})
endforeach()
rnic_install_shipped(suite/upper_tester/kernel/build.sh suite/cases/kdat/kernel/build.sh)
rnic_install_folder(suite/upper_tester/kernel *.c *.h Kbuild Makefile dkms.conf)
rnic_install_folder(suite/cases/kdat/kernel *.c *.h Kbuild Makefile)
rnic_install_folder(reference_rnic/kdat *.c *.h Kbuild)
rnic_install_shipped(suite/lab/dut/make_debian.sh suite/lab/dut/make_root.sh suite/lab/dut/start)
rnic_install_folder(suite/lab/dut/kernel_faults *.c Kbuild)
# By which deviation each case was seen to fail. The file of the DAT API exists if its target was built.
install(FILES "${PROJECT_BINARY_DIR}/generated/suite/seen_to_fail.json" DESTINATION "${RNIC_SHARE}/generated/suite" COMPONENT suite)
install(FILES "${PROJECT_BINARY_DIR}/generated/suite/dat_seen_to_fail.json" DESTINATION "${RNIC_SHARE}/generated/suite" COMPONENT suite
        OPTIONAL)

if(TARGET rnic_dat)
  rnic_install(dat ${RNIC_PRIVATE} rnic_dat)
  # A dat.conf has the absolute path of its provider, which depends on the prefix.
  install(CODE "
    set(library \"\${CMAKE_INSTALL_PREFIX}/${RNIC_PRIVATE}/librnic_dat.so\")
    configure_file(\"${PROJECT_SOURCE_DIR}/reference_rnic/dat/dat.conf.in\"
                   \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${RNIC_SHARE}/examples/dat.conf\" @ONLY)" COMPONENT dat)
  install(FILES "${PROJECT_SOURCE_DIR}/reference_rnic/dat/rnic_dat_extensions.h" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
endif()

if(TARGET rnic_iwarp)
  # The same path below the prefix as below Wireshark's own: with /usr it is where Wireshark looks.
  pkg_get_variable(wireshark_prefix wireshark prefix)
  get_property(plugins GLOBAL PROPERTY RNIC_WIRESHARK_PLUGIN_FOLDER)
  cmake_path(RELATIVE_PATH plugins BASE_DIRECTORY "${wireshark_prefix}")
  rnic_install(wireshark ${plugins}/epan rnic_iwarp)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/dissectors/wireshark/profile/" DESTINATION share/wireshark/profiles/iWARP COMPONENT wireshark)
endif()

file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/*.md")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT doc)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/pictures" "${PROJECT_SOURCE_DIR}/docs/ci" DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT doc)
