// Facts about one GPU: its PCI function, its driver's view, its device nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/model/bdf.h"
#include "checks/model/board.h"
#include "checks/model/fact.h"
#include "checks/model/fields.h"
#include "checks/model/measurement.h"
#include "checks/model/pcie.h"
#include "checks/model/telemetry.h"

namespace gpucheck {

struct NamedText {
    std::string name, text;
    bool operator==(const NamedText&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NamedText, name), GPUCHECK_FIELD(NamedText, text));
    }
};

enum class NodeKind : std::uint8_t {
    kfd,
    render,
    card,
    nvidia_gpu,
    nvidia_ctl,
    nvidia_uvm,
    nvidia_uvm_tools,
    nvidia_modeset,
    nvidia_cap,
    nvidia_nvswitch,
};
std::string_view name_of(NodeKind kind);
std::optional<NodeKind> node_kind_from(std::string_view name);

/// stat(2) of a device node.
struct NodeStat {
    std::string type;  ///< "char", "block", "file", "dir", "fifo", "socket"
    unsigned major = 0, minor = 0;
    unsigned mode = 0;  ///< permission bits: 0660
    unsigned uid = 0, gid = 0;
    bool operator==(const NodeStat&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NodeStat, type), GPUCHECK_FIELD(NodeStat, major),
                     GPUCHECK_FIELD(NodeStat, minor), GPUCHECK_FIELD(NodeStat, mode),
                     GPUCHECK_FIELD(NodeStat, uid), GPUCHECK_FIELD(NodeStat, gid));
    }
};

/// One device node and what the judged process gets from open(2) with O_RDWR.
struct DeviceNode {
    std::string path;
    NodeKind kind = NodeKind::kfd;
    Fact<NodeStat> stat;            ///< Missing ENOENT: no such node
    Fact<std::string> open_rw;      ///< "ok" or the errno name ("EACCES"); Missing only when it was not tried
    Fact<unsigned> expected_major;  ///< from /proc/devices or sysfs `dev`
    Fact<unsigned> expected_minor;
    bool operator==(const DeviceNode&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(DeviceNode, path), GPUCHECK_FIELD(DeviceNode, kind),
                     GPUCHECK_FIELD(DeviceNode, stat), GPUCHECK_FIELD(DeviceNode, open_rw),
                     GPUCHECK_FIELD(DeviceNode, expected_major), GPUCHECK_FIELD(DeviceNode, expected_minor));
    }
};

/// One xGMI link of a KFD node, by where it leads.
struct KfdPeer {
    unsigned node = 0;    ///< number of the other end's folder
    unsigned weight = 0;  ///< 15 for each hop between whole GPUs; other values between partitions
    bool operator==(const KfdPeer&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(KfdPeer, node), GPUCHECK_FIELD(KfdPeer, weight));
    }
};

/// One KFD topology node that is a GPU or a partition of one (gpu_id != 0). Old kernels lack many keys:
/// Missing.
struct KfdNode {
    unsigned node = 0;  ///< number of its folder
    Fact<std::uint64_t> gpu_id;
    Fact<std::uint64_t> unique_id;  ///< the same for all partitions of one GPU; 0 on old kernels
    Fact<std::uint64_t> location_id, domain;
    Fact<std::uint64_t> vendor_id, device_id;
    Fact<std::uint64_t> gfx_target_version;  ///< 90402 = gfx942
    Fact<std::uint64_t> simd_count, simd_per_cu;
    Fact<std::uint64_t> num_xcc;
    Fact<std::uint64_t> drm_render_minor;
    Fact<std::uint64_t> hive_id;  ///< 0: in no xGMI hive
    Fact<std::uint64_t> capability;
    Fact<std::uint64_t> fw_version, sdma_fw_version;
    Fact<std::uint64_t> vram_bytes;         ///< sum of its public and private frame-buffer banks
    Fact<unsigned> xgmi_links, pcie_links;  ///< io_links of type 11 and 2
    Fact<std::vector<KfdPeer>> xgmi_peers;  ///< those of type 11, in KFD's order
    Fact<std::string> name;
    bool operator==(const KfdNode&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(KfdNode, node), GPUCHECK_FIELD(KfdNode, gpu_id),
                     GPUCHECK_FIELD(KfdNode, unique_id), GPUCHECK_FIELD(KfdNode, location_id),
                     GPUCHECK_FIELD(KfdNode, domain), GPUCHECK_FIELD(KfdNode, vendor_id),
                     GPUCHECK_FIELD(KfdNode, device_id), GPUCHECK_FIELD(KfdNode, gfx_target_version),
                     GPUCHECK_FIELD(KfdNode, simd_count), GPUCHECK_FIELD(KfdNode, simd_per_cu),
                     GPUCHECK_FIELD(KfdNode, num_xcc), GPUCHECK_FIELD(KfdNode, drm_render_minor),
                     GPUCHECK_FIELD(KfdNode, hive_id), GPUCHECK_FIELD(KfdNode, capability),
                     GPUCHECK_FIELD(KfdNode, fw_version), GPUCHECK_FIELD(KfdNode, sdma_fw_version),
                     GPUCHECK_FIELD(KfdNode, vram_bytes), GPUCHECK_FIELD(KfdNode, xgmi_links),
                     GPUCHECK_FIELD(KfdNode, pcie_links), GPUCHECK_FIELD(KfdNode, xgmi_peers),
                     GPUCHECK_FIELD(KfdNode, name));
    }
};

/// What amdgpu's sysfs files say about one function.
struct AmdGpu {
    std::vector<KfdNode> kfd_nodes;  ///< the logical nodes folded into this GPU, by node number
    Fact<std::string> compute_partition, memory_partition;  ///< "SPX", "NPS1"
    Fact<std::string> available_compute_partition;          ///< "SPX, DPX, QPX, CPX"
    Fact<std::uint64_t> vram_total_bytes, vram_used_bytes, vram_visible_bytes;
    Fact<std::string> unique_id;  ///< sysfs spelling: hex without 0x
    Fact<std::string> product_name, serial, vbios_version;
    std::vector<NamedText> firmware;  ///< fw_version/*_fw_version: name without suffix, value
    bool operator==(const AmdGpu&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(AmdGpu, kfd_nodes), GPUCHECK_FIELD(AmdGpu, compute_partition),
                     GPUCHECK_FIELD(AmdGpu, memory_partition),
                     GPUCHECK_FIELD(AmdGpu, available_compute_partition),
                     GPUCHECK_FIELD(AmdGpu, vram_total_bytes), GPUCHECK_FIELD(AmdGpu, vram_used_bytes),
                     GPUCHECK_FIELD(AmdGpu, vram_visible_bytes), GPUCHECK_FIELD(AmdGpu, unique_id),
                     GPUCHECK_FIELD(AmdGpu, product_name), GPUCHECK_FIELD(AmdGpu, serial),
                     GPUCHECK_FIELD(AmdGpu, vbios_version), GPUCHECK_FIELD(AmdGpu, firmware));
    }
};

/// /proc/driver/nvidia/gpus/<bdf>/information.
struct NvidiaGpu {
    Fact<std::string> model, uuid, gsp_firmware, vbios_version;
    Fact<unsigned> minor;  ///< N of /dev/nvidiaN
    Fact<bool> excluded;   ///< "GPU Excluded: Yes"
    bool operator==(const NvidiaGpu&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(NvidiaGpu, model), GPUCHECK_FIELD(NvidiaGpu, uuid),
                     GPUCHECK_FIELD(NvidiaGpu, gsp_firmware), GPUCHECK_FIELD(NvidiaGpu, vbios_version),
                     GPUCHECK_FIELD(NvidiaGpu, minor), GPUCHECK_FIELD(NvidiaGpu, excluded));
    }
};

/// One physical GPU: a PCI function of class 0300/0302/0380/1200 of NVIDIA or AMD.
struct Device {
    Bdf bdf;
    Vendor vendor = Vendor::nvidia;
    PciFunction pci;
    Fact<Board> board;              ///< Missing: no row for these ids (the ids are in `why`)
    AmdGpu amd;                     ///< all Missing on NVIDIA
    NvidiaGpu nvidia;               ///< all Missing on AMD
    std::vector<DeviceNode> nodes;  ///< its own: /dev/nvidiaN, renderD*, card*; partitions' render nodes too
    Telemetry telemetry;            ///< what the vendor's interface said
    BurnIn burn_in;                 ///< what the experiments measured
    bool operator==(const Device&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Device, bdf), GPUCHECK_FIELD(Device, vendor), GPUCHECK_FIELD(Device, pci),
                     GPUCHECK_FIELD(Device, board), GPUCHECK_FIELD(Device, amd),
                     GPUCHECK_FIELD(Device, nvidia), GPUCHECK_FIELD(Device, nodes),
                     GPUCHECK_FIELD(Device, telemetry), GPUCHECK_FIELD(Device, burn_in));
    }
};

}  // namespace gpucheck
