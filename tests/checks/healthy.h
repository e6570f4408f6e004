// Healthy machines as snapshots; tests of checks change one fact and expect one finding.
#pragma once

#include <string>
#include <string_view>

#include "checks/model/check.h"

namespace gpucheck {

/// Eight H100 SXM on bare metal behind Gen5 switches, driver 570.133.20, Ubuntu 24.04, judged for root;
/// expects 8 GPUs.
Snapshot healthy_h100_x8();
/// One MI300X virtual function in a KVM guest, amdgpu 6.10.5 from DKMS, ROCm 6.3.2, judged for root; expects
/// 1 GPU.
Snapshot healthy_mi300x_vf();
/// Eight MI300X on bare metal in one xGMI hive, SPX, amdgpu 6.10.5 from DKMS, judged for root; expects 8
/// GPUs.
Snapshot healthy_mi300x_x8();
/// The same in CPX: eight KFD nodes and eight render nodes a GPU.
Snapshot healthy_mi300x_x8_cpx();

/// A known fact with a source that names the test.
template <class T>
Fact<T> fact(T value) {
    return Fact<T>(std::move(value), "test");
}
inline Fact<std::string> fact(const char* text) {
    return Fact<std::string>(text, "test");
}

/// All findings of the check that are not pass.
Findings complaints(const Check& check, const Snapshot& snapshot);
/// "code subject verdict" of each complaint, sorted, one a line: easy to compare.
std::string said(const Check& check, const Snapshot& snapshot);

}  // namespace gpucheck
