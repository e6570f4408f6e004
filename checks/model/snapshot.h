// Everything known about one machine at one moment: the only input of the checks.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "checks/model/device.h"
#include "checks/model/fact.h"
#include "checks/model/fields.h"
#include "checks/model/host.h"

namespace gpucheck {

/// Whose instance this is.
struct Instance {
    Fact<std::string> provider;  ///< "digitalocean", "aws", ...
    Fact<std::string> type;      ///< "gpu-mi300x8-1536gb"
    bool operator==(const Instance&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Instance, provider), GPUCHECK_FIELD(Instance, type)};
    }
};

/// What somebody promised: --expect, the config, or the instance type's row. The source of each fact says
/// who.
struct Expectations {
    Fact<unsigned> gpu_count;
    Fact<std::string> board;                                ///< a key of gpus.json
    Fact<std::string> compute_partition, memory_partition;  ///< "CPX", "NPS4"
    Fact<unsigned> pcie_generation;                         ///< of the host link as wired
    Fact<unsigned> pcie_width;                              ///< lanes as wired
    Fact<std::string> driver_version;                       ///< at least this vendor driver
    Fact<std::string> kernel_version;                       ///< at least this kernel
    Fact<bool> ecc;  ///< ECC of the GPU's memory is on, or off on purpose
    Fact<bool> mig;  ///< GPUs are cut into MIG instances, or whole
    bool operator==(const Expectations&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Expectations, gpu_count),
                          GPUCHECK_FIELD(Expectations, board),
                          GPUCHECK_FIELD(Expectations, compute_partition),
                          GPUCHECK_FIELD(Expectations, memory_partition),
                          GPUCHECK_FIELD(Expectations, pcie_generation),
                          GPUCHECK_FIELD(Expectations, pcie_width),
                          GPUCHECK_FIELD(Expectations, driver_version),
                          GPUCHECK_FIELD(Expectations, kernel_version),
                          GPUCHECK_FIELD(Expectations, ecc),
                          GPUCHECK_FIELD(Expectations, mig)};
    }
};

/// What was measured beyond files. Missing here keeps `boot` and `acceptance` honest: they require both.
struct Measurements {
    Fact<bool>
        vendor_telemetry;    ///< ECC, row remap, NVLink, throttling were read from the vendor's interface
    Fact<bool> experiments;  ///< burn-in kernels ran
    bool operator==(const Measurements&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Measurements, vendor_telemetry),
                          GPUCHECK_FIELD(Measurements, experiments)};
    }
};

struct Snapshot {
    Host host;
    Instance instance;
    std::vector<Device> gpus;  ///< by PCI address
    Measurements measurements;
    Expectations expected;
    bool operator==(const Snapshot&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Snapshot, host), GPUCHECK_FIELD(Snapshot, instance),
                          GPUCHECK_FIELD(Snapshot, gpus), GPUCHECK_FIELD(Snapshot, measurements),
                          GPUCHECK_FIELD(Snapshot, expected)};
    }
};

}  // namespace gpucheck
