// What a board is supposed to be: one row of checks/specs/gpus.json, so that expected values come from
// outside the GPU that is being judged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/fact.h"
#include "checks/model/fields.h"
#include "checks/model/pcie.h"

namespace gpucheck {

enum class Vendor : std::uint8_t { nvidia, amd };
std::string_view name_of(Vendor vendor);  ///< "nvidia", "amd"
std::optional<Vendor> vendor_from(std::string_view name);

/// How the board is attached; decides which host link is judged.
enum class FormFactor : std::uint8_t { pcie, sxm, oam, superchip };
std::string_view name_of(FormFactor form);
std::optional<FormFactor> form_factor_from(std::string_view name);

/// One figure of a board with the test that it belongs to.
struct BoardRate {
    std::string metric;  ///< unit in the name: "memory_copy_gb_s", "bf16_tflops", "host_link_gb_s"
    double value = 0;    ///< floors: already times the fraction that the source accepts
    std::string test;    ///< how the source measured it: "BabelStream Copy"
    std::string source;
    bool operator==(const BoardRate&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(BoardRate, metric), GPUCHECK_FIELD(BoardRate, value),
                     GPUCHECK_FIELD(BoardRate, test), GPUCHECK_FIELD(BoardRate, source));
    }
};

/// A board row as the checks need it. Facts are Missing where no sourced figure exists: a check then says
/// unknown.
struct Board {
    std::string key;   ///< row key: "mi300x", "h100-sxm-80gb"
    std::string name;  ///< for people: "AMD Instinct MI300X"
    Vendor vendor = Vendor::nvidia;
    FormFactor form = FormFactor::pcie;
    std::string arch;                  ///< "gfx942" or "sm_90"
    bool virtual_function = false;     ///< matched through a VF id: host-only facts are absent by design
    Fact<unsigned> compute_units;      ///< CUs or SMs per board function (MI250X: one die)
    Fact<std::uint64_t> memory_bytes;  ///< total the driver shows on a healthy board
    Fact<LinkSpeed> pcie_speed;        ///< host link as the board supports it
    Fact<unsigned> pcie_width;         ///< lanes of the board
    std::vector<unsigned>
        narrow_widths_by_design;  ///< lanes that some platforms wire on purpose (A10G on AWS: 8)
    Fact<unsigned>
        partitions_max;  ///< XCDs: 8 on MI300X, 4 on MI308X; Missing on boards without compute partitions
    Fact<std::string>
        kernel_min;  ///< first mainline kernel whose in-tree driver knows it ("6.14"); DKMS overrides
    Fact<std::string> driver_min;   ///< vendor driver floor ("570.0" or, for amdgpu DKMS, "6.12")
    Fact<bool> ecc;                 ///< shipped with ECC of its memory on
    Fact<unsigned> links;           ///< NVLink or xGMI links of a healthy board, all of them wired
    Fact<unsigned> link_gb_s;       ///< all links together, both ways, as the maker counts
    Fact<unsigned> power_w;         ///< default power limit
    bool needs_nvswitch = false;    ///< SXM boards: a fabric manager belongs to it on bare metal
    std::vector<BoardRate> peaks;   ///< what the maker prints, never what a board must reach
    std::vector<BoardRate> floors;  ///< what a healthy board reached in somebody's named test
    bool operator==(const Board&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Board, key), GPUCHECK_FIELD(Board, name), GPUCHECK_FIELD(Board, vendor),
                     GPUCHECK_FIELD(Board, form), GPUCHECK_FIELD(Board, arch),
                     GPUCHECK_FIELD(Board, virtual_function), GPUCHECK_FIELD(Board, compute_units),
                     GPUCHECK_FIELD(Board, memory_bytes), GPUCHECK_FIELD(Board, pcie_speed),
                     GPUCHECK_FIELD(Board, pcie_width), GPUCHECK_FIELD(Board, narrow_widths_by_design),
                     GPUCHECK_FIELD(Board, partitions_max), GPUCHECK_FIELD(Board, kernel_min),
                     GPUCHECK_FIELD(Board, driver_min), GPUCHECK_FIELD(Board, ecc),
                     GPUCHECK_FIELD(Board, links), GPUCHECK_FIELD(Board, link_gb_s),
                     GPUCHECK_FIELD(Board, power_w), GPUCHECK_FIELD(Board, needs_nvswitch),
                     GPUCHECK_FIELD(Board, peaks), GPUCHECK_FIELD(Board, floors));
    }
};

}  // namespace gpucheck
