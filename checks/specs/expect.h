// What somebody says must be true of a machine (--expect, the config), and what wins when the instance type
// says otherwise: a silently ignored expectation is a check that never ran.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/model/snapshot.h"
#include "checks/specs/boards.h"

namespace gpucheck {

inline constexpr unsigned kMostGpus = 1024;

/// Reads KEY=VALUE texts: gpu_count, board, compute_partition, memory_partition, pcie_generation, pcie_width,
/// driver_version, kernel_version, ecc, mig, gpu_link, rdma_nics, local_nvme. The error names what is wrong
/// and lists the keys (for a board: the nearest ones). The same key twice with two values is an error.
/// `source` is who says so.
std::variant<Expectations, std::string> parse_expect(const std::vector<std::string>& key_values,
                                                     const BoardTable& boards,
                                                     std::string_view source = "--expect");
/// With the boards inside the binary.
std::variant<Expectations, std::string> parse_expect(const std::vector<std::string>& key_values);

/// `flags` win over `from_type`; each field where both are known and differ adds a sentence to `conflicts`.
Expectations merge(Expectations flags, Expectations from_type, std::vector<std::string>& conflicts);

bool is_compute_partition(std::string_view text);  ///< SPX DPX TPX QPX CPX
bool is_memory_partition(std::string_view text);   ///< NPS1 NPS2 NPS4 NPS8

}  // namespace gpucheck
