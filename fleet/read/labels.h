// What an operator knows of a node and no report can: its rack, its image, its switch. Bad nodes that share
// one point at the cause.
#pragma once

#include <optional>
#include <string>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

/// Adds the labels of a CSV file (RFC 4180: quotes may hold commas) to the reports of its nodes. A node that
/// stands there twice with different labels is an error.
std::optional<std::string> add_labels(Fleet& fleet, const std::string& path);

}  // namespace gpucheck::fleet
