// Finds the PCI Express capability in config space: the only place that shows a link which somebody pinned to
// a lower speed or switched off (setpci), and which nothing logs.
#include <array>
#include <cstdint>

#include "agent/host/pci_parse.h"

namespace gpucheck::host {
namespace {

// Offsets and bits of linux/pci_regs.h (PCI Express Base Specification, 7.5).
constexpr std::size_t kStatus = 0x06, kHeaderType = 0x0e, kCapabilities = 0x34, kCardBusCapabilities = 0x14;
constexpr unsigned kHasCapabilities = 0x10;
constexpr unsigned kExpress = 0x10;
constexpr std::size_t kExpressFlags = 0x02, kLinkCap = 0x0c, kLinkCtl = 0x10, kLinkSta = 0x12,
                      kLinkCtl2 = 0x30;
constexpr std::size_t kUnprivilegedBytes = 64;

class Bytes {
  public:
    explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
    bool has(std::size_t offset, std::size_t size) const {
        return offset <= bytes_.size() && size <= bytes_.size() - offset;
    }
    std::size_t size() const { return bytes_.size(); }
    unsigned u8(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
    unsigned u16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
    std::uint32_t u32(std::size_t at) const { return u16(at) | std::uint32_t{u16(at + 2)} << 16; }
    bool all_ones() const { return bytes_.find_first_not_of('\xff') == std::string_view::npos; }

  private:
    std::string_view bytes_;
};

// Offset of the PCI Express capability, or why there is none in `why`. A list that bites its tail ends there.
std::size_t find_express(const Bytes& config, std::string& why) {
    const unsigned header = config.u8(kHeaderType) & 0x7fU;
    if ((config.u16(kStatus) & kHasCapabilities) == 0) {
        why = "no capability list";
        return 0;
    }
    std::array<bool, kConfigBytes> seen{};
    std::size_t at = config.u8(header == 2 ? kCardBusCapabilities : kCapabilities) & 0xfcU;
    while (at >= kUnprivilegedBytes && !seen[at]) {
        if (!config.has(at, 2)) {
            why = "truncated at " + std::to_string(config.size()) + " bytes";
            return 0;
        }
        if (config.u16(at) == 0xffff) {
            why = "reads all ones";
            return 0;
        }
        if (config.u8(at) == kExpress) return at;
        seen[at] = true;
        at = config.u8(at + 1) & 0xfcU;
    }
    why = at == 0 ? "no PCI Express capability" : "malformed: broken capability list";
    return 0;
}

LinkSpeed speed_from(unsigned field) {
    return link_speed_from_config(field & 0xfU).value_or(LinkSpeed::unknown);
}
unsigned width_from(std::uint32_t field) {
    return field >> 4 & 0x3fU;
}

}  // namespace

Fact<PcieConfig> pcie_config_from(const Fact<std::string>& bytes) {
    if (!bytes.known()) return bytes.missing();
    const Bytes config(std::string_view(bytes.value()).substr(0, kConfigBytes));
    const auto missing = [&](std::string why) { return Missing{bytes.source(), std::move(why)}; };
    if (config.size() == 0) return missing("empty");
    if (config.all_ones()) return missing("reads all ones");
    if (config.size() < kUnprivilegedBytes)
        return missing("truncated at " + std::to_string(config.size()) + " bytes");
    if (config.u32(0) == 0xffffffff) return missing("reads all ones");
    if (config.size() == kUnprivilegedBytes) return missing("only 64 bytes readable (root reads more)");

    std::string why;
    const std::size_t at = find_express(config, why);
    if (at == 0) return missing(std::move(why));
    if (!config.has(at, kLinkSta + 2))
        return missing("truncated at " + std::to_string(config.size()) + " bytes");
    const unsigned flags = config.u16(at + kExpressFlags), version = flags & 0xfU, type = flags >> 4 & 0xfU;
    if (version == 0) return missing("malformed: PCI Express capability of version 0");
    if (type == 9 || type == 10) return missing("no link: part of the root complex");

    const std::uint32_t capability = config.u32(at + kLinkCap);
    const unsigned control = config.u16(at + kLinkCtl), status = config.u16(at + kLinkSta);
    if (capability == 0xffffffff || status == 0xffff) return missing("reads all ones");
    PcieConfig result;
    result.cap_speed = speed_from(capability);
    result.cap_width = width_from(capability);
    result.status_speed = speed_from(status);
    result.status_width = width_from(status);
    result.link_disabled = (control & 0x10U) != 0;
    if (version >= 2) {
        if (!config.has(at, kLinkCtl2 + 2))
            return missing("truncated at " + std::to_string(config.size()) + " bytes");
        const unsigned control2 = config.u16(at + kLinkCtl2);
        result.target_speed = speed_from(control2);
        result.autonomous_speed_disabled = (control2 & 0x20U) != 0;
    }
    return Fact<PcieConfig>(result, bytes.source());
}

}  // namespace gpucheck::host
