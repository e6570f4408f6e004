// What a scheduler may place jobs by: how many GPUs of which board, which of them share a NUMA node or an
// NVLink or xGMI island. A wrong label sends a job over the socket link for weeks, so what is not known gives
// none.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "checks/model/snapshot.h"

namespace gpucheck::listing {

/// By name: "gpucheck.io/gpu.count" -> "8". Names and values are valid Kubernetes labels, at most 32 of them.
std::map<std::string, std::string> labels_of(const Snapshot& snapshot);

/// One NAME=VALUE a line, sorted: a features file of node-feature-discovery, arguments of `kubectl label`.
std::string labels_text(const Snapshot& snapshot);

}  // namespace gpucheck::listing
