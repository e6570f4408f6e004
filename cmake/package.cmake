# Packages: .deb (Debian 12, Ubuntu 22.04 and 24.04) and .rpm from one install tree. `./setup.sh package` builds both from the
# release binary. What they hold and do: docs/boot.md, "Packages"; tests/packages installs, upgrades, removes and purges.

# Nobody packages a build with sanitizers, and making the completions would run it in each build.
if(GPUCHECK_SANITIZE)
  return()
endif()

set(package_files ${CMAKE_BINARY_DIR}/package)
file(MAKE_DIRECTORY ${package_files})
find_program(GPUCHECK_GZIP NAMES gzip REQUIRED)

# Made when the program is there: its own completions, and what policies want compressed.
add_custom_command(OUTPUT ${package_files}/gpucheck.1.gz ${package_files}/changelog.gz
  COMMAND ${GPUCHECK_GZIP} -9nc ${PROJECT_SOURCE_DIR}/docs/gpucheck.1 > ${package_files}/gpucheck.1.gz
  COMMAND ${GPUCHECK_GZIP} -9nc ${PROJECT_SOURCE_DIR}/cmake/package/changelog > ${package_files}/changelog.gz
  DEPENDS ${PROJECT_SOURCE_DIR}/docs/gpucheck.1 ${PROJECT_SOURCE_DIR}/cmake/package/changelog VERBATIM)
add_custom_command(OUTPUT ${package_files}/gpucheck.bash ${package_files}/_gpucheck ${package_files}/gpucheck.fish
  COMMAND gpucheck completion bash > ${package_files}/gpucheck.bash
  COMMAND gpucheck completion zsh > ${package_files}/_gpucheck
  COMMAND gpucheck completion fish > ${package_files}/gpucheck.fish
  DEPENDS gpucheck VERBATIM)
add_custom_command(OUTPUT ${package_files}/gpucheck-fleet.1.gz
  COMMAND ${GPUCHECK_GZIP} -9nc ${PROJECT_SOURCE_DIR}/docs/gpucheck-fleet.1 > ${package_files}/gpucheck-fleet.1.gz
  DEPENDS ${PROJECT_SOURCE_DIR}/docs/gpucheck-fleet.1 VERBATIM)
add_custom_target(package_files ALL DEPENDS ${package_files}/gpucheck.1.gz ${package_files}/gpucheck-fleet.1.gz ${package_files}/changelog.gz ${package_files}/gpucheck.bash
  ${package_files}/_gpucheck ${package_files}/gpucheck.fish)

install(TARGETS gpucheck RUNTIME DESTINATION bin)
install(FILES ${package_files}/gpucheck.1.gz DESTINATION share/man/man1)
install(FILES ${package_files}/gpucheck.bash DESTINATION share/bash-completion/completions RENAME gpucheck)
install(FILES ${package_files}/_gpucheck DESTINATION share/zsh/vendor-completions)
install(FILES ${package_files}/gpucheck.fish DESTINATION share/fish/vendor_completions.d)
install(FILES ${package_files}/changelog.gz DESTINATION share/doc/gpucheck)
install(FILES cmake/package/copyright DESTINATION share/doc/gpucheck)
install(FILES cmake/package/lintian-overrides DESTINATION share/lintian/overrides RENAME gpucheck)
install(DIRECTORY cloud-init/examples DESTINATION share/doc/gpucheck FILES_MATCHING PATTERN "*.yaml")
install(FILES cloud-init/systemd/gpucheck-boot.service cloud-init/systemd/gpucheck-passed.target
  cloud-init/systemd/gpucheck-report.service cloud-init/systemd/gpucheck-report.timer DESTINATION lib/systemd/system)
install(FILES cloud-init/systemd/50-gpucheck.preset DESTINATION lib/systemd/system-preset)
install(FILES cloud-init/tmpfiles/gpucheck.conf DESTINATION lib/tmpfiles.d)
install(FILES cmake/package/config.json DESTINATION share/doc/gpucheck/examples)
# For schedulers and monitoring: docs/fleet-slurm.md, fleet-kubernetes.md, monitoring.md. Scripts run from here.
install(PROGRAMS fleet/slurm/gpucheck-prolog fleet/slurm/gpucheck-epilog fleet/slurm/gpucheck-health fleet/slurm/gpucheck-acceptance.sbatch
  DESTINATION share/gpucheck/slurm)
install(FILES fleet/slurm/gpucheck-common.sh DESTINATION share/gpucheck/slurm)
install(FILES fleet/slurm/gpucheck-slurm.conf DESTINATION share/doc/gpucheck/examples)
install(PROGRAMS fleet/kubernetes/gpucheck-npd DESTINATION share/gpucheck/kubernetes)
install(DIRECTORY fleet/kubernetes/ DESTINATION share/gpucheck/kubernetes FILES_MATCHING PATTERN "*.yaml" PATTERN "*.json" PATTERN Dockerfile)
install(DIRECTORY fleet/prometheus/ DESTINATION share/gpucheck/prometheus FILES_MATCHING PATTERN "*.yml" PATTERN "gpucheck-metrics.*")
install(FILES fleet/grafana/gpucheck.json DESTINATION share/gpucheck/grafana)
install(FILES fleet/ansible/gpucheck.yml DESTINATION share/gpucheck/ansible)

# An operator's machine; no GPU node needs it.
install(TARGETS gpucheck-fleet RUNTIME DESTINATION bin COMPONENT fleet)
install(FILES ${package_files}/gpucheck-fleet.1.gz DESTINATION share/man/man1 COMPONENT fleet)
install(FILES ${package_files}/changelog.gz cmake/package/copyright docs/fleet.md docs/fleet-page.md docs/fleet-policy.md docs/fleet-serve.md docs/fleet-serve.md docs/fleet-policy.md docs/fleet.schema.json
  docs/fleet-policy.schema.json docs/fleet-baseline.schema.json
  DESTINATION share/doc/gpucheck-fleet COMPONENT fleet)
# Neither enabled nor started: who collects says where, and with which tokens (docs/fleet-serve.md).
install(FILES fleet/collect/gpucheck-fleet.service DESTINATION lib/systemd/system COMPONENT fleet)
install(FILES cmake/package/lintian-overrides-fleet DESTINATION share/lintian/overrides RENAME gpucheck-fleet COMPONENT fleet)

set(CPACK_PACKAGE_NAME gpucheck)
set(CPACK_PACKAGE_VENDOR "gpucheck")
set(CPACK_PACKAGE_CONTACT "The gpucheck authors <maintainers@gpucheck.example.org>")
# Not CPACK_PACKAGE_DESCRIPTION_SUMMARY: it would begin the description of each package.
set(summary "says whether the GPUs of an instance are what was paid for")
set(CPACK_PACKAGE_DESCRIPTION
"gpucheck judges the GPUs of a cloud instance at boot: present, driven,
reachable, linked at full width and speed, healthy, fast, and computing
correctly. It gives each problem a code, its cause, its owner and the next
step, and delivers one signed report. It serves NVIDIA and AMD and needs
neither CUDA nor ROCm to start.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_GENERATOR DEB RPM)

# Two packages: what names no component is gpucheck's.
set(CPACK_COMPONENTS_ALL Unspecified fleet)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME gpucheck)
set(CPACK_DEBIAN_FLEET_PACKAGE_NAME gpucheck-fleet)
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_COMPONENT_FLEET_DESCRIPTION
"gpucheck-fleet turns the reports of many machines into one decision: which
nodes are out, which are slow against their peers, what the bad ones share,
and what changed since last time.")
set(CPACK_DEBIAN_UNSPECIFIED_DESCRIPTION "${summary}\n${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_DEBIAN_FLEET_DESCRIPTION "decides over a fleet of GPU machines by their reports\n${CPACK_COMPONENT_FLEET_DESCRIPTION}")
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT Unspecified)
set(CPACK_RPM_PACKAGE_SUMMARY "${summary}")
set(CPACK_RPM_FLEET_PACKAGE_NAME gpucheck-fleet)
set(CPACK_RPM_FLEET_PACKAGE_SUMMARY "decides over a fleet of GPU machines by their reports")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS "cloud-init")
set(CPACK_DEBIAN_FLEET_PACKAGE_SUGGESTS "gpucheck")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/package/deb/postinst ${PROJECT_SOURCE_DIR}/cmake/package/deb/prerm
  ${PROJECT_SOURCE_DIR}/cmake/package/deb/postrm)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0")
set(CPACK_RPM_PACKAGE_GROUP "System Environment/Base")
set(CPACK_RPM_PACKAGE_AUTOREQPROV ON)
set(CPACK_RPM_Unspecified_POST_INSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/cmake/package/rpm/post)
set(CPACK_RPM_Unspecified_PRE_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/cmake/package/rpm/preun)
set(CPACK_RPM_Unspecified_POST_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/cmake/package/rpm/postun)
# Folders of other packages: owning them as well would make a conflict of modes.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/lib/systemd /usr/lib/systemd/system /usr/lib/systemd/system-preset
  /usr/lib/tmpfiles.d /usr/share/man /usr/share/man/man1 /usr/share/bash-completion /usr/share/bash-completion/completions
  /usr/share/zsh /usr/share/zsh/vendor-completions /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/doc)
include(CPack)
