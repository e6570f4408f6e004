// Reads the EFI variable SecureBoot and the kernel's lockdown mode; see secure_boot.h.
#include "agent/host/secure_boot.h"

#include <string_view>

namespace gpucheck::host {
namespace {

constexpr const char* kEfi = "/sys/firmware/efi";
constexpr const char* kVariables = "/sys/firmware/efi/efivars";
// The GUID is that of EFI_GLOBAL_VARIABLE (UEFI specification 3.3).
constexpr const char* kSecureBoot =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

// Container runtimes hide /sys/firmware behind an empty folder, and then its silence about EFI says nothing.
Fact<bool> without_efi(const Sysroot& root) {
    const Fact<bool> sysfs = root.exists("/sys/devices");
    if (!sysfs.known()) return sysfs.missing();
    if (!*sysfs) return Missing{kEfi, "sysfs is not mounted"};
    const Fact<std::vector<std::string>> firmware = root.list("/sys/firmware");
    if (firmware.known() && firmware->empty()) return Missing{kEfi, "hidden: /sys/firmware is empty"};
    if (!firmware.known() && !firmware.absent()) return firmware.missing();
    return Fact<bool>(false, kEfi);
}

}  // namespace

Fact<bool> read_secure_boot(const Sysroot& root) {
    const Fact<bool> efi = root.exists(kEfi);
    if (!efi.known()) return efi;
    if (!*efi) return without_efi(root);
    const Fact<std::string> variable = root.read(kSecureBoot);
    if (variable.absent()) {
        // Firmware that cannot do Secure Boot has other variables but not this one; an empty folder is not
        // mounted.
        const Fact<std::vector<std::string>> variables = root.list(kVariables);
        if (variables.known() && !variables->empty()) return Fact<bool>(false, kVariables);
        return Missing{kSecureBoot, "ENOENT"};
    }
    if (!variable.known()) return variable.missing();
    // efivarfs puts four attribute bytes before the value (Documentation/filesystems/efivarfs.rst).
    if (variable->size() != 5 || (*variable)[4] < 0 || (*variable)[4] > 1)
        return Missing{kSecureBoot, "malformed"};
    return Fact<bool>((*variable)[4] == 1, kSecureBoot);
}

Fact<std::string> read_lockdown(const Sysroot& root) {
    const Fact<std::string> line = root.read_line("/sys/kernel/security/lockdown");
    if (!line.known()) return line;
    const std::size_t open = line->find('['), close = line->find(']');
    const Missing malformed{line.source(), "malformed: '" + line->substr(0, 40) + "'"};
    if (open == std::string::npos || close == std::string::npos || close < open) return malformed;
    const std::string mode = line->substr(open + 1, close - open - 1);
    if (mode != "none" && mode != "integrity" && mode != "confidentiality") return malformed;
    return Fact<std::string>(mode, line.source());
}

}  // namespace gpucheck::host
