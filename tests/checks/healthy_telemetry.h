// What NVML says of healthy GPUs; tests of NVIDIA checks change one fact of it and expect one finding.
#pragma once

#include "tests/checks/healthy.h"

namespace gpucheck {

/// Gives every NVIDIA GPU of the machine two healthy readings, 60 s apart, and the host its NVML facts and
/// running units. Links follow the board's row.
void give_healthy_telemetry(Snapshot& snapshot);

/// healthy_h100_x8() with that, four NVSwitches, and what the board's row says of links, power and ECC.
Snapshot telling_h100_x8();
/// The same in MIG mode with seven instances: NVML leaves out what it leaves out there.
Snapshot telling_h100_mig();
/// One vGPU in a KVM guest.
Snapshot telling_vgpu();
/// One GH200: coherent link to the CPU, a placeholder on PCI, NVLinks that go nowhere.
Snapshot telling_gh200();
/// Two A100 PCIe without a bridge: all links down.
Snapshot telling_a100_pcie();
/// One T4: no NVLink, pages in place of rows.
Snapshot telling_t4();
/// One H200 SXM passed through alone to a KVM guest: no link, no fabric manager.
Snapshot telling_h200_guest();

}  // namespace gpucheck
