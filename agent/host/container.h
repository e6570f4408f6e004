// Whether we are inside a container: there, a missing device node or module folder is the container's doing,
// not the machine's.
#pragma once

#include <string>
#include <string_view>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// "none" only on positive evidence (an init system is process 1, and no runtime left its mark);
/// "kubernetes", "docker", "podman", "containerd", "crio", "lxc", "systemd-nspawn", "apptainer", "openvz",
/// "wsl", ... else Missing.
Fact<std::string> read_container(const Sysroot& root, const Process& process);

/// The runtime that a line of /proc/PID/cgroup betrays, or "" ("/system.slice/docker.service" is the host's
/// daemon).
std::string_view runtime_of_cgroup(std::string_view path);

}  // namespace gpucheck::host
