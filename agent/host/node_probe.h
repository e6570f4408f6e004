// Opens device nodes of GPUs that may be sick: open(2) can block inside a driver for ever, and a checker that
// hangs with the machine says nothing.
#pragma once

#include <string>
#include <vector>

#include "checks/model/fact.h"

namespace gpucheck::host {

/// Opens one node and tells the errno, 0 for success; runs in a child that ends right after, so it needs to
/// close nothing and must use async-signal-safe calls only.
using NodeOpener = int (*)(const char* path);

/// open(2) with O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC. NONBLOCK: nvidia.ko then initialises a GPU in the
/// background (nvidia_open in kernel-open/nvidia/nv.c), which takes seconds without persistence mode; "ok"
/// therefore says that the node may be opened, not that the GPU works.
int open_read_write(const char* path);

inline constexpr int kNodeDeadlineMs = 1200;

/// "ok" or an errno name for each path, in order; Missing "open(2) did not return within N ms", "child ended
/// without an answer" or "fork(2): ERRNO". Every path has a child of its own and all share one deadline.
/// Children that are late are killed, and reaped only if that works at once: one in uninterruptible sleep is
/// left to init.
std::vector<Fact<std::string>> probe_nodes(const std::vector<std::string>& paths,
                                           int deadline_ms = kNodeDeadlineMs,
                                           NodeOpener opener = open_read_write);

}  // namespace gpucheck::host
