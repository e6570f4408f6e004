// Everything known about one machine at one moment: the only input of the checks.
#pragma once

#include <string>
#include <vector>

#include "checks/model/device.h"
#include "checks/model/fact.h"
#include "checks/model/fields.h"
#include "checks/model/host.h"

namespace gpucheck {

/// What the instance costs, whole and for each GPU apart. Its source says who said so (--price, the config, a
/// provider's API, the dated table); a price of zero is Missing, never free.
struct HourlyPrice {
    Fact<double> instance_usd;  ///< for the whole instance
    Fact<double> gpu_usd;       ///< instance_usd over the GPUs that belong to the type
    Fact<std::string> market;   ///< "on-demand", "spot", "reserved"
    Fact<std::string> as_of;    ///< "2026-10-08": when that price was seen
    Fact<bool> stale;           ///< seen more than 90 days before the run
    bool operator==(const HourlyPrice&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(HourlyPrice, instance_usd), GPUCHECK_FIELD(HourlyPrice, gpu_usd),
                     GPUCHECK_FIELD(HourlyPrice, market), GPUCHECK_FIELD(HourlyPrice, as_of),
                     GPUCHECK_FIELD(HourlyPrice, stale));
    }
};

/// Whose instance this is.
struct Instance {
    Fact<std::string> provider;   ///< "digitalocean", "aws", ...
    Fact<std::string> type;       ///< "gpu-mi300x8-1536gb"
    Fact<std::string> id;         ///< as the provider writes it: "900000001", "i-0abc..."
    Fact<std::string> region;     ///< "nyc3", "us-west-2"
    Fact<std::string> zone;       ///< where the provider has zones: "us-west-2b"
    Fact<std::string> lifecycle;  ///< "on-demand" or "spot"
    Fact<HourlyPrice> price;
    bool operator==(const Instance&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Instance, provider), GPUCHECK_FIELD(Instance, type),
                     GPUCHECK_FIELD(Instance, id), GPUCHECK_FIELD(Instance, region),
                     GPUCHECK_FIELD(Instance, zone), GPUCHECK_FIELD(Instance, lifecycle),
                     GPUCHECK_FIELD(Instance, price));
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
    Fact<bool> ecc;              ///< ECC of the GPU's memory is on, or off on purpose
    Fact<bool> mig;              ///< GPUs are cut into MIG instances, or whole
    Fact<std::string> gpu_link;  ///< between the GPUs: "nvlink", "xgmi", "none"
    Fact<unsigned> rdma_nics;    ///< network functions for GPU traffic
    Fact<unsigned> local_nvme;   ///< local NVMe drives
    bool operator==(const Expectations&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Expectations, gpu_count), GPUCHECK_FIELD(Expectations, board),
                     GPUCHECK_FIELD(Expectations, compute_partition),
                     GPUCHECK_FIELD(Expectations, memory_partition),
                     GPUCHECK_FIELD(Expectations, pcie_generation), GPUCHECK_FIELD(Expectations, pcie_width),
                     GPUCHECK_FIELD(Expectations, driver_version),
                     GPUCHECK_FIELD(Expectations, kernel_version), GPUCHECK_FIELD(Expectations, ecc),
                     GPUCHECK_FIELD(Expectations, mig), GPUCHECK_FIELD(Expectations, gpu_link),
                     GPUCHECK_FIELD(Expectations, rdma_nics), GPUCHECK_FIELD(Expectations, local_nvme));
    }
};

/// What was measured beyond files. Missing here keeps `boot` and `acceptance` honest: they require both.
struct Measurements {
    Fact<bool>
        vendor_telemetry;    ///< ECC, row remap, NVLink, throttling were read from the vendor's interface
    Fact<bool> experiments;  ///< burn-in kernels ran
    bool operator==(const Measurements&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Measurements, vendor_telemetry),
                     GPUCHECK_FIELD(Measurements, experiments));
    }
};

struct Snapshot {
    Host host;
    Instance instance;
    std::vector<Device> gpus;  ///< by PCI address
    Measurements measurements;
    Expectations expected;
    bool operator==(const Snapshot&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Snapshot, host), GPUCHECK_FIELD(Snapshot, instance),
                     GPUCHECK_FIELD(Snapshot, gpus), GPUCHECK_FIELD(Snapshot, measurements),
                     GPUCHECK_FIELD(Snapshot, expected));
    }
};

}  // namespace gpucheck
