// Facts about the machine around the GPUs: kernel, modules, nodes, libraries, virtualisation, the judged
// process.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "checks/model/device.h"
#include "checks/model/fact.h"
#include "checks/model/fields.h"
#include "checks/model/log_event.h"

namespace gpucheck {

/// One kernel module that matters (amdgpu, nvidia, nvidia_uvm, nouveau, vfio_pci, gim ...), loaded or not.
struct Module {
    std::string name;  ///< with underscores, as in /sys/module
    Fact<bool> loaded;
    Fact<std::string> version;  ///< Missing ENOENT for in-tree modules: amdgpu has one only from DKMS
    Fact<std::string> srcversion, taint;
    std::vector<NamedText> parameters;  ///< readable files of /sys/module/NAME/parameters
    Fact<std::string> file;             ///< path of the .ko for the running kernel; "" when there is none
    Fact<std::string> blacklisted_by;   ///< "" when nothing; else the file or kernel argument that does
    bool operator==(const Module&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Module, name),    GPUCHECK_FIELD(Module, loaded),
                          GPUCHECK_FIELD(Module, version), GPUCHECK_FIELD(Module, srcversion),
                          GPUCHECK_FIELD(Module, taint),   GPUCHECK_FIELD(Module, parameters),
                          GPUCHECK_FIELD(Module, file),    GPUCHECK_FIELD(Module, blacklisted_by)};
    }
};

/// One tree of /var/lib/dkms, judged for the running kernel.
struct DkmsTree {
    std::string module, version;
    Fact<std::string> state;  ///< "installed", "built", "added", "building", "broken" (no source)
    bool operator==(const DkmsTree&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(DkmsTree, module), GPUCHECK_FIELD(DkmsTree, version),
                          GPUCHECK_FIELD(DkmsTree, state)};
    }
};

/// A vendor library on disk, in the order the judged process would find it.
struct Library {
    std::string soname;    ///< "libcuda.so.1"
    std::string path;      ///< where it was found
    std::string found_by;  ///< "LD_LIBRARY_PATH", "ld.so.conf", "default"
    Fact<std::string> real_path;
    Fact<std::string> version;  ///< from the real name: libcuda.so.570.133.20
    Fact<std::uint64_t> size_bytes;
    bool stub = false;    ///< a toolkit's link-time stub (.../stubs/...)
    bool compat = false;  ///< a CUDA forward-compatibility library (.../compat/...)
    bool operator==(const Library&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Library, soname),   GPUCHECK_FIELD(Library, path),
                          GPUCHECK_FIELD(Library, found_by), GPUCHECK_FIELD(Library, real_path),
                          GPUCHECK_FIELD(Library, version),  GPUCHECK_FIELD(Library, size_bytes),
                          GPUCHECK_FIELD(Library, stub),     GPUCHECK_FIELD(Library, compat)};
    }
};

struct Filesystem {
    std::string path;                             ///< "/", "/boot", "/var", "/tmp"
    Fact<std::uint64_t> total_bytes, free_bytes;  ///< free to unprivileged users
    bool operator==(const Filesystem&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Filesystem, path), GPUCHECK_FIELD(Filesystem, total_bytes),
                          GPUCHECK_FIELD(Filesystem, free_bytes)};
    }
};

struct CxlMemory {
    std::string name;  ///< "mem0"
    Fact<std::uint64_t> ram_bytes, pmem_bytes;
    Fact<int> numa_node;
    Fact<std::string> firmware_version;
    bool operator==(const CxlMemory&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(CxlMemory, name), GPUCHECK_FIELD(CxlMemory, ram_bytes),
                          GPUCHECK_FIELD(CxlMemory, pmem_bytes), GPUCHECK_FIELD(CxlMemory, numa_node),
                          GPUCHECK_FIELD(CxlMemory, firmware_version)};
    }
};

struct Dmi {
    Fact<std::string> sys_vendor, product_name, product_serial, board_vendor, board_name, bios_vendor,
        bios_version, chassis_vendor, chassis_asset_tag;
    bool operator==(const Dmi&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Dmi, sys_vendor),       GPUCHECK_FIELD(Dmi, product_name),
                          GPUCHECK_FIELD(Dmi, product_serial),   GPUCHECK_FIELD(Dmi, board_vendor),
                          GPUCHECK_FIELD(Dmi, board_name),       GPUCHECK_FIELD(Dmi, bios_vendor),
                          GPUCHECK_FIELD(Dmi, bios_version),     GPUCHECK_FIELD(Dmi, chassis_vendor),
                          GPUCHECK_FIELD(Dmi, chassis_asset_tag)};
    }
};

struct GroupEntry {
    std::string name;
    unsigned gid = 0;
    bool operator==(const GroupEntry&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(GroupEntry, name), GPUCHECK_FIELD(GroupEntry, gid)};
    }
};

/// The process whose access and environment are judged (recorded machines: process.json).
struct Process {
    Fact<unsigned> uid;
    Fact<std::vector<unsigned>> gids;  ///< effective and supplementary
    Fact<bool> user_namespace;         ///< true: uid 0 here is not root of the machine
    std::vector<NamedText> env;        ///< only names that matter to GPUs or proxies; never a secret
    Fact<std::string> now;             ///< RFC 3339 UTC
    bool operator==(const Process&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Process, uid), GPUCHECK_FIELD(Process, gids),
                          GPUCHECK_FIELD(Process, user_namespace), GPUCHECK_FIELD(Process, env),
                          GPUCHECK_FIELD(Process, now)};
    }
};

/// /sys/class/kfd/kfd/topology as a whole.
struct Kfd {
    Fact<unsigned>
        nodes_total;  ///< folders under nodes/; Missing ENOENT: no KFD in this kernel, or amdgpu not loaded
    Fact<unsigned> gpu_nodes;  ///< logical GPU nodes (partitions counted one by one)
    std::vector<std::string>
        unreadable;  ///< node folders whose gpu_id or properties could not be read, with the errno
    std::vector<KfdNode> orphans;  ///< GPU nodes that match no PCI function we see
    bool operator==(const Kfd&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Kfd, nodes_total), GPUCHECK_FIELD(Kfd, gpu_nodes),
                          GPUCHECK_FIELD(Kfd, unreadable), GPUCHECK_FIELD(Kfd, orphans)};
    }
};

/// /proc/driver/nvidia as a whole.
struct NvidiaDriver {
    Fact<std::string> version;  ///< "570.133.20"
    Fact<bool> open_kernel_module;
    Fact<std::vector<std::string>> proc_gpus;  ///< folder names of /proc/driver/nvidia/gpus, as printed
    std::vector<NamedText> params;             ///< DeviceFileMode, ModifyDeviceFiles ...
    bool operator==(const NvidiaDriver&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(NvidiaDriver, version),
                          GPUCHECK_FIELD(NvidiaDriver, open_kernel_module),
                          GPUCHECK_FIELD(NvidiaDriver, proc_gpus), GPUCHECK_FIELD(NvidiaDriver, params)};
    }
};

/// An NVMe controller on the PCI bus. Drives behind a network fabric have no function there and are not
/// listed.
struct NvmeDrive {
    Bdf bdf;
    Fact<std::string> controller;  ///< "nvme0"; Missing ENOENT: no driver made one
    Fact<std::string> model;       ///< clouds tell local drives from network disks by it
    bool operator==(const NvmeDrive&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(NvmeDrive, bdf), GPUCHECK_FIELD(NvmeDrive, controller),
                          GPUCHECK_FIELD(NvmeDrive, model)};
    }
};

/// A network function that moves GPU memory without the processor: InfiniBand, RoCE, EFA.
struct RdmaNic {
    Bdf bdf;
    bool infiniband = false;   ///< by its PCI class; an Ethernet function otherwise
    Fact<std::string> device;  ///< "mlx5_ib0"; Missing ENOENT: no driver registered one
    bool operator==(const RdmaNic&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(RdmaNic, bdf), GPUCHECK_FIELD(RdmaNic, infiniband),
                          GPUCHECK_FIELD(RdmaNic, device)};
    }
};

/// A systemd unit that GPUs depend on, read from its cgroup and unit files: no command is run.
struct ServiceUnit {
    std::string name;          ///< "nvidia-fabricmanager.service"
    Fact<bool> installed;      ///< a unit file of that name is in systemd's directories
    Fact<bool> enabled;        ///< some target wants or requires it
    Fact<unsigned> processes;  ///< in its cgroup; ENOENT: it has no cgroup, so it does not run
    bool operator==(const ServiceUnit&) const = default;
    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(ServiceUnit, name), GPUCHECK_FIELD(ServiceUnit, installed),
                          GPUCHECK_FIELD(ServiceUnit, enabled), GPUCHECK_FIELD(ServiceUnit, processes)};
    }
};

struct Host {
    // kernel and operating system
    Fact<std::string> kernel_release, kernel_version, kernel_cmdline;
    Fact<std::string> os_id, os_version_id, os_pretty_name;
    Fact<std::string> hostname, boot_id;
    Fact<double> uptime_s;
    Fact<std::uint64_t> tainted;
    Fact<bool> secure_boot;
    Fact<std::string> lockdown;  ///< "none", "integrity", "confidentiality"
    Fact<int> numa_balancing;
    // machine
    Dmi dmi;
    Fact<std::string> hypervisor;  ///< "none" on bare metal, else "kvm", "vmware", "hyperv", "xen", "unknown"
    Fact<std::string>
        container;  ///< "none", "docker", "podman", "kubernetes", "containerd", "lxc", "systemd-nspawn", ...
    Fact<std::string> cpu_model;
    Fact<unsigned> cpus_online, numa_nodes;
    Fact<std::uint64_t> memory_total_bytes, memory_available_bytes;
    std::vector<Filesystem> filesystems;
    Fact<bool> time_synchronized;  ///< Missing when no known service tells
    std::vector<CxlMemory> cxl;
    // drivers
    std::vector<Module> modules;
    std::vector<DkmsTree> dkms;
    NvidiaDriver nvidia;
    Kfd kfd;
    std::vector<DeviceNode> nodes;  ///< shared ones: kfd, nvidiactl, nvidia-uvm ...
    std::vector<Library> libraries;
    std::vector<GroupEntry> groups;  ///< those of /etc/group that own a node, plus render and video
    Fact<std::string> rocm_version;  ///< /opt/rocm/.info/version
    // bus
    Fact<unsigned> pci_functions;  ///< how many functions the kernel lists
    std::vector<Bdf> nvswitches;   ///< class 0680 of vendor 10de
    std::vector<PciFunction>
        unreadable_functions;  ///< vendor or class could not be read, or reads all ones (device gone)
    Fact<std::vector<NvmeDrive>> nvme_drives;
    Fact<std::vector<RdmaNic>> rdma_nics;
    Fact<LogSummary> kernel_log;  ///< of this boot; its source tells where: /dev/kmsg, kernel.log
    // vendor's interface
    NvmlSystem nvml;
    Fact<std::vector<VendorTrouble>> vendor_troubles;  ///< empty: every call came back
    Fact<std::vector<ServiceUnit>> units;              ///< fabric manager, IMEX, persistence daemon
    Process process;
    bool operator==(const Host&) const = default;

    const Module* module(std::string_view name) const {
        for (const Module& module : modules) {
            if (module.name == name) return &module;
        }
        return nullptr;
    }
    bool bare_metal() const { return hypervisor.is("none"); }
    bool virtual_machine() const { return hypervisor.known() && !hypervisor.is("none"); }
    bool in_container() const { return container.known() && !container.is("none"); }

    static constexpr auto fields() {
        return std::tuple{GPUCHECK_FIELD(Host, kernel_release),
                          GPUCHECK_FIELD(Host, kernel_version),
                          GPUCHECK_FIELD(Host, kernel_cmdline),
                          GPUCHECK_FIELD(Host, os_id),
                          GPUCHECK_FIELD(Host, os_version_id),
                          GPUCHECK_FIELD(Host, os_pretty_name),
                          GPUCHECK_FIELD(Host, hostname),
                          GPUCHECK_FIELD(Host, boot_id),
                          GPUCHECK_FIELD(Host, uptime_s),
                          GPUCHECK_FIELD(Host, tainted),
                          GPUCHECK_FIELD(Host, secure_boot),
                          GPUCHECK_FIELD(Host, lockdown),
                          GPUCHECK_FIELD(Host, numa_balancing),
                          GPUCHECK_FIELD(Host, dmi),
                          GPUCHECK_FIELD(Host, hypervisor),
                          GPUCHECK_FIELD(Host, container),
                          GPUCHECK_FIELD(Host, cpu_model),
                          GPUCHECK_FIELD(Host, cpus_online),
                          GPUCHECK_FIELD(Host, numa_nodes),
                          GPUCHECK_FIELD(Host, memory_total_bytes),
                          GPUCHECK_FIELD(Host, memory_available_bytes),
                          GPUCHECK_FIELD(Host, filesystems),
                          GPUCHECK_FIELD(Host, time_synchronized),
                          GPUCHECK_FIELD(Host, cxl),
                          GPUCHECK_FIELD(Host, modules),
                          GPUCHECK_FIELD(Host, dkms),
                          GPUCHECK_FIELD(Host, nvidia),
                          GPUCHECK_FIELD(Host, kfd),
                          GPUCHECK_FIELD(Host, nodes),
                          GPUCHECK_FIELD(Host, libraries),
                          GPUCHECK_FIELD(Host, groups),
                          GPUCHECK_FIELD(Host, rocm_version),
                          GPUCHECK_FIELD(Host, pci_functions),
                          GPUCHECK_FIELD(Host, nvswitches),
                          GPUCHECK_FIELD(Host, unreadable_functions),
                          GPUCHECK_FIELD(Host, nvme_drives),
                          GPUCHECK_FIELD(Host, rdma_nics),
                          GPUCHECK_FIELD(Host, kernel_log),
                          GPUCHECK_FIELD(Host, nvml),
                          GPUCHECK_FIELD(Host, vendor_troubles),
                          GPUCHECK_FIELD(Host, units),
                          GPUCHECK_FIELD(Host, process)};
    }
};

}  // namespace gpucheck
