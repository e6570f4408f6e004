// Reads /sys/class/dmi/id; see dmi.h. Serials are readable by root only (drivers/firmware/dmi-id.c gives them
// mode 0400).
#include "agent/host/dmi.h"

namespace gpucheck::host {

Dmi read_dmi(const Sysroot& root) {
    const auto field = [&](const char* name) {
        return root.read_line(std::string("/sys/class/dmi/id/") + name);
    };
    Dmi dmi;
    dmi.sys_vendor = field("sys_vendor");
    dmi.product_name = field("product_name");
    dmi.product_serial = field("product_serial");
    dmi.board_vendor = field("board_vendor");
    dmi.board_name = field("board_name");
    dmi.bios_vendor = field("bios_vendor");
    dmi.bios_version = field("bios_version");
    dmi.chassis_vendor = field("chassis_vendor");
    dmi.chassis_asset_tag = field("chassis_asset_tag");
    return dmi;
}

}  // namespace gpucheck::host
