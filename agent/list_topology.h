// How the GPUs of a machine reach each other: NVLink, xGMI or which part of the PCIe tree. Jobs that are
// placed without it run at a tenth of the speed.
#pragma once

#include <cstddef>
#include <string>

#include "checks/json/json.h"
#include "checks/model/snapshot.h"

namespace gpucheck::listing {

/// "NV18", "XGMI", "XGMI2" (hops), "PIX", "PXB", "PHB", "NODE", "SYS", "X" for itself, "?" when not known.
std::string relation(const Snapshot& snapshot, const Device& from, const Device& to);

/// The matrix with CPU and NUMA columns, and a legend of the words that occur.
std::string topology_text(const Snapshot& snapshot, std::size_t width);
Json topology_json(const Snapshot& snapshot);

}  // namespace gpucheck::listing
