// What a cloud sells under an instance type: the expectation that finds a GPU which is absent everywhere on
// the machine, and so missed by every count taken there (aws/eks-node-monitoring-agent PR#121: 3 of 4, all
// green).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "checks/model/snapshot.h"
#include "checks/specs/boards.h"
#include "checks/specs/data_file.h"

namespace gpucheck {

/// One row of instances.json. Unset where no source says it.
struct InstanceRow {
    std::string provider, type;
    std::optional<std::string> board;  ///< key of gpus.json
    unsigned gpu_count = 0;            ///< PCI functions that are GPUs (two for each MI250X)
    std::string gpu_link;              ///< "nvlink", "xgmi" or ""
    std::optional<std::string> compute_partition, memory_partition;
    std::optional<unsigned> pcie_generation, pcie_width;  ///< host link as wired
    std::optional<unsigned> local_nvme_count, nic_count;
    std::string source, as_of;            ///< as_of: YYYY-MM-DD
    std::vector<std::string> unverified;  ///< names of the fields above
    std::string note;

    bool is_unverified(std::string_view field) const;
};

class InstanceTable {
  public:
    /// The table inside the binary, or instances.json of `folder` where that has one. With `boards`, a row
    /// whose board has no row there is an error (rows inside the binary are not held against a replaced
    /// gpus.json).
    static std::variant<InstanceTable, std::string> load(const std::string& folder = {},
                                                         const BoardTable* boards = nullptr);

    /// The row of a type, as the provider spells it: Azure without case, Google as a bare name or a path
    /// ("projects/1/machineTypes/a3-highgpu-8g"), DigitalOcean with or without a market suffix ("-spot"),
    /// which changes the price but not the hardware. Anything else must be equal.
    std::optional<InstanceRow> find(std::string_view provider, std::string_view type) const;
    const std::vector<InstanceRow>& rows() const { return rows_; }

  private:
    InstanceTable() = default;
    std::string read(const DataFile& file, const BoardTable* boards);

    std::vector<InstanceRow> rows_;
    std::vector<std::pair<std::string, std::string>> suffixes_;  ///< provider, suffix
};

/// Looks the type up in the table inside the binary.
std::optional<InstanceRow> find_instance(std::string_view provider, std::string_view type);

/// What the row promises; sources read "instances.json: digitalocean gpu-mi300x8-1536gb (as of 2026-10-08)",
/// with
/// ", unverified" for a field without a confirmed source.
Expectations expectations_of(const InstanceRow& row);

}  // namespace gpucheck
