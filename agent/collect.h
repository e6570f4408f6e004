// Fills a snapshot from a machine's files: every reader of agent/host once, then what the tables know about
// the boards.
#pragma once

#include <string>

#include "agent/host/sysroot.h"
#include "checks/model/snapshot.h"
#include "checks/specs/boards.h"

namespace gpucheck {

/// Facts from files. On a live machine device nodes are opened in children of their own, all at once, which
/// may take `node_deadline_ms`. `kernel_log`: a file to take the kernel log from instead ("-": standard
/// input).
void collect_facts(const host::Sysroot& root, Snapshot& snapshot, int node_deadline_ms,
                   const std::string& kernel_log = {});

/// Attaches to each GPU the row of the table that its ids match.
void match_boards(const BoardTable& boards, Snapshot& snapshot);

}  // namespace gpucheck
