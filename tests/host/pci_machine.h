// Writes PCI functions into a temporary machine in sysfs' own shape, for tests of the PCI reader.
#pragma once

#include <string>
#include <string_view>

#include "tests/host/temp_machine.h"

namespace gpucheck::host {

/// What is written for one function; an empty text leaves the file out.
struct PciFiles {
    std::string vendor = "0x10de", device = "0x2330", class_code = "0x030200";
    std::string driver;
    std::string current_speed = "32.0 GT/s PCIe", max_speed = "32.0 GT/s PCIe";
    std::string current_width = "16", max_width = "16";
    std::string config;
};

/// Adds a function at `real` ("/sys/devices/pci0000:00/0000:00:01.0") and its link below
/// /sys/bus/pci/devices. Returns `real`.
inline std::string add_pci(TempMachine& machine, const std::string& real, const PciFiles& files = {}) {
    const auto line = [&](const char* name, const std::string& text) {
        if (!text.empty()) machine.file(real + "/" + name, text + "\n");
    };
    line("vendor", files.vendor);
    line("device", files.device);
    line("class", files.class_code);
    line("current_link_speed", files.current_speed);
    line("max_link_speed", files.max_speed);
    line("current_link_width", files.current_width);
    line("max_link_width", files.max_width);
    if (!files.config.empty()) machine.file(real + "/config", files.config);
    machine.folder(real);
    if (!files.driver.empty()) {
        machine.folder("/sys/bus/pci/drivers/" + files.driver);
        std::string up;
        for (const char c : real) up += c == '/' ? "../" : "";
        machine.link(real + "/driver", up.substr(3) + "bus/pci/drivers/" + files.driver);
    }
    const std::string name = real.substr(real.rfind('/') + 1);
    machine.link("/sys/bus/pci/devices/" + name, "../../.." + real.substr(std::string_view("/sys").size()));
    return real;
}

/// 256 bytes of config space with a PCI Express capability at 0x60 behind a power management capability at
/// 0x40.
struct ConfigSpace {
    std::string bytes = std::string(256, '\0');
    void put(std::size_t at, unsigned value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xffU);
    }
    ConfigSpace() {
        put(0x00, 0x10de, 2);
        put(0x02, 0x2330, 2);
        put(0x06, 0x0010, 2);  // status: capability list
        put(0x34, 0x40, 1);    // first capability
        put(0x40, 0x6001, 2);  // power management, next 0x60
        put(0x60, 0x0010, 2);  // PCI Express, last
        put(0x62, 0x0002, 2);  // version 2, endpoint
        put(0x6c, 0x0105, 4);  // LnkCap: 32 GT/s x16
        put(0x70, 0x0000, 2);  // LnkCtl
        put(0x72, 0x0105, 2);  // LnkSta: 32 GT/s x16
        put(0x90, 0x0005, 2);  // LnkCtl2: target 32 GT/s
    }
};

}  // namespace gpucheck::host
