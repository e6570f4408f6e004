// Which GPUs a check may judge and how they are driven: said once, so that two checks never blame a GPU that
// was handed to a virtual machine, or one that was not passed into the judged container.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/model/check.h"

namespace gpucheck {

using Gpus = std::vector<const Device*>;

/// A virtual function seen from its own host (a `physfn` link): it belongs to a guest and is no GPU of this
/// machine.
bool guests_function(const Device& gpu);
/// The GPUs of this machine, without guests' functions.
Gpus own_gpus(const Snapshot& snapshot);
/// "amdgpu" or "nvidia".
std::string_view native_driver(Vendor vendor);
/// Bound to its native driver.
bool driven(const Device& gpu);
Gpus driven_gpus(const Snapshot& snapshot, Vendor vendor);
/// Held by a driver that lends it to a virtual machine (vfio-pci and its kin).
bool lent_to_guest(const Device& gpu);
/// An AMD physical function that the SR-IOV host driver `gim` splits into virtual ones.
bool split_by_gim(const Device& gpu);
/// A board for computing: one we have a row for, any NVIDIA GPU, or a processing accelerator (class 1200). A
/// small AMD display adapter or the graphics unit of a processor is not, and may lack a KFD node rightly.
bool computes(const Device& gpu);
/// In a container that sees the host's /sys: none of the GPU's nodes was passed, while as many GPUs as
/// promised (or, without a promise, at least one) were.
bool left_outside(const Snapshot& snapshot, const Device& gpu);
/// A DKMS build of this vendor's module is running and none is loaded, so that its absence is no fault yet.
bool driver_is_building(const Snapshot& snapshot, Vendor vendor);
/// The module's name as DKMS trees spell it: "nvidia", "nvidia-open", "nvidia-srv", "amdgpu".
bool dkms_tree_of(const DkmsTree& tree, Vendor vendor);

/// Why a check of GPUs has nothing to judge.
NotApplicable without_gpus(const Snapshot& snapshot);
NotApplicable without_driven(const Snapshot& snapshot, Vendor vendor);
NotApplicable without_driven_amd(const Snapshot& snapshot);
NotApplicable without_driven_nvidia(const Snapshot& snapshot);
NotApplicable without_any_driven(const Snapshot& snapshot);

/// "0000:19:00.0, 0000:3b:00.0"; "none".
std::string addresses(const Gpus& gpus);
/// "1 GPU", "8 GPUs", "0 GPUs".
std::string count_of(std::size_t number, std::string_view singular);
/// "1002:74b5, subsystem 1002:74a1"; ids that could not be read show as "????".
std::string pci_ids(const PciFunction& function);
/// The board's name, or its ids where no row matches.
std::string board_name(const Device& gpu);

}  // namespace gpucheck
