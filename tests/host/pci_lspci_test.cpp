// Machines rebuilt in sysfs' shape from real `lspci -vvv` dumps: what lspci saw is what the reader must see.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <sstream>

#include "agent/host/pci.h"
#include "tests/host/pci_machine.h"
#include "tests/source_dir.h"

namespace gpucheck::host {
namespace {

struct LspciFunction {
    std::string bdf;
    PciFiles files;
    std::string secondary_bus;  // bridges: the bus below
    ConfigSpace config;
};

std::optional<std::string> between(const std::string& text, const std::string& before,
                                   const std::string& after) {
    const std::size_t start = text.find(before);
    if (start == std::string::npos) return std::nullopt;
    const std::size_t from = start + before.size();
    return text.substr(from, text.find(after, from) - from);
}

// "32GT/s" as the kernel prints it, and as config space encodes it.
std::string sysfs_speed(const std::string& lspci) {
    const std::string number = lspci.substr(0, lspci.find('G'));
    return number + (number.find('.') == std::string::npos ? ".0" : "") + " GT/s PCIe";
}
unsigned encoded(const std::string& lspci) {
    return generation(*link_speed_from(sysfs_speed(lspci)));
}

// The dumps are without -n: ids that the old pci.ids did not know are printed as "Device 2330".
void read_header(const std::string& line, LspciFunction& function) {
    struct Row {
        const char *name, *id;
    };
    constexpr std::array kClasses{Row{"3D controller: ", "0x030200"}, Row{"PCI bridge: ", "0x060400"},
                                  Row{" Bridge: ", "0x068000"}};
    constexpr std::array kVendors{Row{"NVIDIA Corporation", "0x10de"}, Row{"Intel Corporation", "0x8086"},
                                  Row{"Broadcom / LSI", "0x1000"}};
    function.bdf = "0000:" + line.substr(0, line.find(' '));
    function.files.class_code = function.files.vendor = "";
    for (const Row& row : kClasses) {
        if (line.find(row.name) != std::string::npos) function.files.class_code = row.id;
    }
    for (const Row& row : kVendors) {
        if (line.find(row.name) != std::string::npos) function.files.vendor = row.id;
    }
    function.files.device = "0x" + between(line, "Device ", " ").value_or("c030");  // the PEX890xx has a name
}

void read_detail(const std::string& line, LspciFunction& function) {
    const std::string speed = between(line, "Speed ", "GT/s").value_or("") + "GT/s";
    const auto width = between(line, "Width x", ",");
    const auto lanes = [&] { return static_cast<unsigned>(std::stoul(*width)); };
    if (line.starts_with("\t\tLnkCap:")) {
        function.files.max_speed = sysfs_speed(speed);
        function.files.max_width = std::to_string(lanes());
        function.config.put(0x6c, encoded(speed) | lanes() << 4, 4);
    } else if (line.starts_with("\t\tLnkSta:")) {
        function.files.current_speed = sysfs_speed(speed);
        function.files.current_width = std::to_string(lanes());
        function.config.put(0x72, encoded(speed) | lanes() << 4, 2);
    } else if (const auto target = between(line, "LnkCtl2: Target Link Speed: ", ",")) {
        function.config.put(0x90,
                            encoded(*target) | (line.find("SpeedDis+") != std::string::npos ? 0x20U : 0U), 2);
    } else if (const auto bus = between(line, "secondary=", ",")) {
        function.secondary_bus = *bus;
    } else if (line.starts_with("\tKernel driver in use: ")) {
        function.files.driver = line.substr(std::string_view("\tKernel driver in use: ").size());
    }
}

// Reads GPUCHECK_SHARED_DIR/field/NAME; empty when it is not there.
std::vector<LspciFunction> read_lspci(const std::string& name) {
    std::ifstream file(std::string(GPUCHECK_SHARED_DIR) + "/field/" + name);
    std::vector<LspciFunction> functions;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line.front() != '\t') {
            functions.emplace_back();
            read_header(line, functions.back());
        } else if (!functions.empty()) {
            read_detail(line, functions.back());
        }
    }
    return functions;
}

// Below the bridge whose secondary bus it is on, else on a root bus of its own.
std::string place_of(const LspciFunction& function, const std::vector<LspciFunction>& all) {
    const std::string bus = function.bdf.substr(5, 2);
    for (const LspciFunction& bridge : all) {
        if (bridge.secondary_bus == bus) return place_of(bridge, all) + "/" + function.bdf;
    }
    return "/sys/devices/pci0000:" + bus + "/" + function.bdf;
}

void build(TempMachine& machine, const std::vector<LspciFunction>& functions) {
    for (const LspciFunction& function : functions) {
        PciFiles files = function.files;
        files.config = function.config.bytes;
        add_pci(machine, place_of(function, functions), files);
    }
}

void expect_full_link(const PciFunction& gpu) {
    EXPECT_TRUE(gpu.vendor.is(0x10de));
    EXPECT_TRUE(gpu.device.is(0x2330)) << gpu.bdf.str();
    EXPECT_TRUE(gpu.driver.is("nvidia"));
    EXPECT_TRUE(gpu.link.current_speed.is(LinkSpeed::gen5));
    EXPECT_TRUE(gpu.link.current_width.is(16U));
    EXPECT_TRUE(gpu.link.max_speed.is(LinkSpeed::gen5));
    EXPECT_TRUE(gpu.link.max_width.is(16U));
    EXPECT_EQ(gpu.config.value(),
              (PcieConfig{LinkSpeed::gen5, 16, LinkSpeed::gen5, 16, LinkSpeed::gen5, false, false}));
}

TEST(PciLspci, EightH100AndTheirSwitches) {
    std::vector<LspciFunction> functions = read_lspci("lspci_vvv_h100_sxm_baremetal_all8gpus.txt");
    for (const char* more :
         {"lspci_vvv_nvswitch3_bridge_83.txt", "lspci_vvv_h100_host_rootport_and_pex890xx_switch.txt"}) {
        const std::vector<LspciFunction> other = read_lspci(more);
        if (other.empty()) GTEST_SKIP() << more << " is not here";
        functions.insert(functions.end(), other.begin(), other.end());
    }
    TempMachine machine;
    build(machine, functions);
    const PciInventory pci = read_pci(machine.open());
    EXPECT_EQ(pci.functions.value(), functions.size());
    ASSERT_EQ(pci.gpus.size(), 8U);
    EXPECT_EQ(pci.nvswitches, (std::vector<Bdf>{{0, 0x83, 0, 0}}));
    EXPECT_TRUE(pci.unreadable.empty());
    for (const PciFunction& gpu : pci.gpus) expect_full_link(gpu);

    // 15:01.0 > 16:00.0 > 17:01.0 > 19:00.0; the narrow and the slow port beside it are not on the way.
    const PciFunction& first = pci.gpus.front();
    ASSERT_EQ(first.path.size(), 3U);
    EXPECT_EQ(first.path[0].bdf.str(), "0000:17:01.0");
    EXPECT_EQ(first.path[2].bdf.str(), "0000:15:01.0");
    EXPECT_TRUE(first.path[2].vendor.is(0x8086));
    const auto path = path_bandwidth(first, false);
    ASSERT_TRUE(path.has_value());
    EXPECT_TRUE(path->complete);
    EXPECT_EQ(path->speed, LinkSpeed::gen5);
    EXPECT_EQ(path->width, 16U);
}

TEST(PciLspci, OneH100) {
    const std::vector<LspciFunction> functions = read_lspci("lspci_vvv_h100_sxm_baremetal_19.txt");
    if (functions.empty()) GTEST_SKIP() << "the dump is not here";
    TempMachine machine;
    build(machine, functions);
    const PciInventory pci = read_pci(machine.open());
    ASSERT_EQ(pci.gpus.size(), 1U);
    EXPECT_EQ(pci.gpus[0].bdf.str(), "0000:19:00.0");
    expect_full_link(pci.gpus[0]);
}

}  // namespace
}  // namespace gpucheck::host
