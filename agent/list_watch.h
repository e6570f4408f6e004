// Looks at the GPUs again and again and shows what changed: an error count that grows is seen, a GPU that
// hangs does not hang the screen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/supervise/supervise.h"
#include "checks/model/snapshot.h"

namespace gpucheck::listing {

/// Reads the machine, in a child. `first`: counters that reading resets may be read only then.
using Reader =
    std::function<Snapshot(const std::vector<std::string>& refused, Progress& progress, bool first)>;

/// What a single look may cost.
Supervision limits_of_list();

/// Prints the tables once; the exit status.
int show_once(const Reader& read, const std::function<std::string(const Snapshot&)>& text);

/// Prints the telemetry every `interval_s` seconds, `count` times (0: until SIGINT, SIGTERM or a reader that
/// went away, all of which end it with 0). A terminal is redrawn in place; elsewhere blocks follow each
/// other. What is a total shows as growth between two looks.
int watch(const Reader& read, double interval_s, unsigned count);

/// Columns of the terminal on standard output, else 140.
std::size_t output_width();

}  // namespace gpucheck::listing
