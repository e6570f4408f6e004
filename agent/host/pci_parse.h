// Parses what sysfs prints about one PCI function; pure functions over bytes, because a dying device prints
// junk.
#pragma once

#include "checks/model/fact.h"
#include "checks/model/pcie.h"

namespace gpucheck::host {

/// Bytes of config space that hold every capability we look for (the extended space above is slow to read).
inline constexpr std::size_t kConfigBytes = 256;

/// The PCI Express capability in the first 256 bytes of config space.
Fact<PcieConfig> pcie_config_from(const Fact<std::string>& bytes);
/// An aer_dev_* file: lines "NAME COUNT" and one "TOTAL_ERR_... COUNT".
Fact<AerCounters> aer_from(const Fact<std::string>& text);
/// The first six lines of `resource`: "START END FLAGS", all zero when the register does not exist.
Fact<std::vector<Bar>> bars_from(const Fact<std::string>& text);

}  // namespace gpucheck::host
