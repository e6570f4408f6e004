// Reads the files of one function; see pci_function.h. Files of a sleeping device are left alone: reading
// them gives ones, or wakes it.
#include "agent/host/pci_function.h"

#include <charconv>

#include "agent/host/pci_parse.h"

namespace gpucheck::host {
namespace {

Missing malformed(const Fact<std::string>& line) {
    return {line.source(), "malformed: '" + line.value().substr(0, 40) + "'"};
}

// "0x" and hexadecimal digits, at most `max`: without the prefix a class such as 030200 would be read as
// decimal.
Fact<std::uint32_t> read_hex(const Sysroot& root, const std::string& path, std::uint32_t max) {
    const Fact<std::string> line = root.read_line(path);
    if (!line.known()) return line.missing();
    const std::string& text = line.value();
    std::uint32_t value = 0;
    const char* end = text.data() + text.size();
    if (text.size() < 3 || !text.starts_with("0x")) return malformed(line);
    const auto result = std::from_chars(text.data() + 2, end, value, 16);
    if (result.ec != std::errc{} || result.ptr != end || value > max) return malformed(line);
    return Fact<std::uint32_t>(value, line.source());
}

Fact<LinkSpeed> read_speed(const Sysroot& root, const std::string& path) {
    const Fact<std::string> line = root.read_line(path);
    if (!line.known()) return line.missing();
    const std::optional<LinkSpeed> speed = link_speed_from(line.value());
    if (!speed) return malformed(line);
    return Fact<LinkSpeed>(*speed, line.source());
}

// 0 (no link), 63 (six bits of ones) and 255 (no link capability) are kept: they say what is wrong.
Fact<unsigned> read_width(const Sysroot& root, const std::string& path) {
    const Fact<std::uint64_t> width = root.read_u64(path);
    if (!width.known()) return width.missing();
    if (width.value() > 255)
        return Missing{width.source(), "malformed: '" + std::to_string(width.value()) + "'"};
    return Fact<unsigned>(static_cast<unsigned>(width.value()), width.source());
}

PciLink read_link(const Sysroot& root, const std::string& folder, bool asleep) {
    const auto path = [&](const char* name) { return folder + name; };
    if (asleep) {
        return {
            Missing{path("/current_link_speed"), "suspended"}, Missing{path("/max_link_speed"), "suspended"},
            Missing{path("/current_link_width"), "suspended"}, Missing{path("/max_link_width"), "suspended"}};
    }
    return {read_speed(root, path("/current_link_speed")), read_speed(root, path("/max_link_speed")),
            read_width(root, path("/current_link_width")), read_width(root, path("/max_link_width"))};
}

// Kept by the kernel in memory, so a sleeping device has them too. Absent when the firmware kept AER for
// itself.
Aer read_aer(const Sysroot& root, const std::string& folder) {
    return {aer_from(root.read(folder + "/aer_dev_correctable")),
            aer_from(root.read(folder + "/aer_dev_nonfatal")),
            aer_from(root.read(folder + "/aer_dev_fatal"))};
}

Fact<PcieConfig> read_config(const Sysroot& root, const std::string& folder, bool asleep) {
    const std::string path = folder + "/config";
    if (asleep) return Missing{path, "suspended"};
    return pcie_config_from(root.read_prefix(path, kConfigBytes));
}

// Between awake and suspended counts as asleep: the link may be down already or not yet up. In D3hot config
// space still answers, in D3cold nothing does (kernel documentation, power/pci.rst).
bool is_asleep(const Fact<std::string>& runtime_status, const Fact<std::string>& power_state) {
    return runtime_status.is("suspended") || runtime_status.is("suspending") ||
           runtime_status.is("resuming") || power_state.is("D3cold");
}

// A port that an awake device hangs on is awake; otherwise it has to be asked.
bool port_is_asleep(const Sysroot& root, const std::string& folder, bool child_asleep) {
    if (!child_asleep) return false;
    return is_asleep(root.read_line(folder + "/power/runtime_status"),
                     root.read_line(folder + "/power_state"));
}

PciPort read_port(const Sysroot& root, const Bdf& bdf, const std::string& folder, bool child_asleep) {
    PciPort port;
    port.bdf = bdf;
    const bool asleep = port_is_asleep(root, folder, child_asleep);
    port.vendor = root.read_hex16(folder + "/vendor");
    port.device = root.read_hex16(folder + "/device");
    port.link = read_link(root, folder, asleep);
    port.aer = read_aer(root, folder);
    port.config = read_config(root, folder, asleep);
    return port;
}

// Every folder above the function that is named like an address is a port; the nearest comes first.
std::vector<PciPort> read_path(const Sysroot& root, PciBus& bus, const Bdf& bdf, bool asleep) {
    std::vector<PciPort> path;
    const Fact<std::string> real = root.real_path(pci_folder(bdf));
    if (!real.known()) return path;
    std::string folder = real.value();
    std::size_t slash = folder.rfind('/');
    if (folder.substr(slash + 1) != bdf.str()) return path;
    for (folder.resize(slash); !folder.empty(); folder.resize(slash)) {
        slash = folder.rfind('/');
        if (slash == std::string::npos) break;
        const std::string name = folder.substr(slash + 1);
        const std::optional<Bdf> above = Bdf::parse(name);
        if (!above || above->str() != name) continue;
        auto found = bus.ports.find(*above);
        if (found == bus.ports.end()) {
            const std::string shown = bus.listed.contains(*above) ? pci_folder(*above) : folder;
            found = bus.ports.emplace(*above, read_port(root, *above, shown, asleep)).first;
        }
        path.push_back(found->second);
    }
    return path;
}

Fact<std::string> read_driver(const Sysroot& root, const std::string& folder) {
    Fact<std::string> driver = root.link_name(folder + "/driver");
    if (driver.absent()) return Fact<std::string>("", driver.source());
    return driver;
}

Fact<bool> read_has_physfn(const Sysroot& root, const std::string& folder) {
    const Fact<std::string> target = root.link_target(folder + "/physfn");
    if (target.known() || target.absent()) return Fact<bool>(target.known(), target.source());
    return target.missing();
}

// A count of drivers that enabled it; 0 when none did.
Fact<bool> read_enabled(const Sysroot& root, const std::string& folder) {
    const Fact<std::uint64_t> count = root.read_u64(folder + "/enable");
    if (!count.known()) return count.missing();
    return Fact<bool>(count.value() > 0, count.source());
}

}  // namespace

std::string pci_folder(const Bdf& bdf) {
    return "/sys/bus/pci/devices/" + bdf.str();
}

Fact<std::uint32_t> read_pci_class(const Sysroot& root, const std::string& folder) {
    return read_hex(root, folder + "/class", 0xffffff);
}

void read_pci_identity(const Sysroot& root, PciFunction& function) {
    const std::string folder = pci_folder(function.bdf);
    function.device = root.read_hex16(folder + "/device");
    function.sub_vendor = root.read_hex16(folder + "/subsystem_vendor");
    function.sub_device = root.read_hex16(folder + "/subsystem_device");
    const auto to_byte = [](std::uint32_t value) { return std::optional(static_cast<std::uint8_t>(value)); };
    function.revision = convert_fact<std::uint8_t>(read_hex(root, folder + "/revision", 0xff), to_byte);
    function.driver = read_driver(root, folder);
}

void read_pci_details(const Sysroot& root, PciBus& bus, PciFunction& function) {
    const std::string folder = pci_folder(function.bdf);
    function.runtime_status = root.read_line(folder + "/power/runtime_status");
    function.power_state = root.read_line(folder + "/power_state");
    const bool asleep = is_asleep(function.runtime_status, function.power_state);
    function.has_physfn = read_has_physfn(root, folder);
    function.link = read_link(root, folder, asleep);
    function.aer = read_aer(root, folder);
    function.config = read_config(root, folder, asleep);
    function.path = read_path(root, bus, function.bdf, asleep);
    function.numa_node = root.read_int(folder + "/numa_node");
    function.iommu_group = root.link_name(folder + "/iommu_group");
    function.iommu_type = root.read_line(folder + "/iommu_group/type");
    function.local_cpulist = root.read_line(folder + "/local_cpulist");
    function.bars = bars_from(root.read(folder + "/resource"));
    function.enabled = read_enabled(root, folder);
}

}  // namespace gpucheck::host
