// Host and GPU facts as JSON: null and a reason where nobody knows; see json_gpu.h.
#include "agent/report/json_gpu.h"

#include <array>
#include <cstdio>

namespace gpucheck::report {
namespace {

// PCI ids as lspci and pci.ids print them: "10de", class "030200".
template <class T>
void hex_fact(FactObject& object, std::string_view name, const Fact<T>& fact, int digits) {
    object.fact(name, fact, [digits](JsonText& json, T value) {
        std::array<char, 16> buffer{};
        std::snprintf(buffer.data(), buffer.size(), "%0*x", digits, static_cast<unsigned>(value));
        json.text(buffer.data());
    });
}

// The kernel's answer "Unknown" is an answer, yet no generation.
Fact<unsigned> generation_of(const Fact<LinkSpeed>& speed) {
    if (!speed.known()) return speed.missing();
    if (speed.value() == LinkSpeed::unknown) return Missing{speed.source(), "the kernel says Unknown"};
    return Fact<unsigned>(generation(speed.value()), speed.source());
}

template <class T, class Member>
Fact<Member> of_board(const Fact<T>& board, Member T::*member) {
    if (!board.known()) return board.missing();
    return Fact<Member>(board.value().*member, board.source());
}

const Fact<unsigned>& promised_or(const Fact<unsigned>& promised, const Fact<unsigned>& board) {
    return promised.known() ? promised : board;
}

Fact<std::string> module_version(const Host& host, std::string_view name) {
    const Module* module = host.module(name);
    if (module == nullptr) return Missing{"/sys/module", "not looked at"};
    return module->version;
}

void write_link(JsonText& json, const Device& gpu, const Expectations& expected) {
    const PciLink& link = gpu.pci.link;
    Fact<unsigned> board_generation, board_width;
    if (gpu.board.known()) {
        board_generation = generation_of(gpu.board->pcie_speed);
        board_width = gpu.board->pcie_width;
    }
    FactObject object(json);
    object.number("current_generation", generation_of(link.current_speed));
    object.number("current_width", link.current_width);
    object.number("max_generation", generation_of(link.max_speed));
    object.number("max_width", link.max_width);
    object.number("expected_generation", promised_or(expected.pcie_generation, board_generation));
    object.number("expected_width", promised_or(expected.pcie_width, board_width));
    Fact<double> path = Missing{"", "no link above this GPU could be read"};
    Fact<std::string> limit = path.missing();
    if (const auto slowest = path_bandwidth(gpu.pci, true)) {
        if (slowest->complete) path = Fact<double>(slowest->gb_s, "links up to the root port");
        if (!slowest->complete) path = Missing{"", "not every link up to the root port could be read"};
        limit =
            slowest->complete ? Fact<std::string>(slowest->limited_by.str(), path.source()) : path.missing();
    }
    object.fact("path_max_gb_s", path, [](JsonText& out, double value) { out.decimal(value); });
    object.text("path_limited_by", limit);
    object.end();
}

void write_pci(JsonText& json, const PciFunction& pci) {
    FactObject object(json);
    hex_fact(object, "vendor", pci.vendor, 4);
    hex_fact(object, "device", pci.device, 4);
    hex_fact(object, "sub_vendor", pci.sub_vendor, 4);
    hex_fact(object, "sub_device", pci.sub_device, 4);
    hex_fact(object, "class", pci.class_code, 6);
    hex_fact(object, "revision", pci.revision, 2);
    object.fact("numa_node", pci.numa_node, [](JsonText& out, int value) { out.integer(value); });
    object.end();
}

void write_partition(JsonText& json, const AmdGpu& amd) {
    FactObject object(json);
    object.text("compute", amd.compute_partition);
    object.text("memory", amd.memory_partition);
    object.fact("logical_gpus", Fact<std::size_t>(amd.kfd_nodes.size(), "KFD topology"),
                [](JsonText& out, std::size_t value) { out.number(value); });
    object.end();
}

void write_nodes(JsonText& json, const std::vector<DeviceNode>& nodes) {
    json.begin_array();
    for (const DeviceNode& node : nodes) {
        FactObject object(json);
        object.fact("path", Fact<std::string>(node.path, ""),
                    [](JsonText& out, const std::string& value) { out.text(value); });
        object.text("open", node.open_rw);
        object.end();
    }
    json.end_array();
}

void write_drivers(JsonText& json, const Host& host) {
    FactObject object(json);
    object.text("nvidia", host.nvidia.version);
    object.text("amdgpu", module_version(host, "amdgpu"));
    object.text("rocm", host.rocm_version);
    object.end();
}

}  // namespace

void write_host(JsonText& json, const Host& host) {
    FactObject object(json);
    object.text("hostname", host.hostname);
    object.text("kernel", host.kernel_release);
    object.text("os", host.os_pretty_name);
    object.text("hypervisor", host.hypervisor);
    object.text("container", host.container);
    object.text("system_vendor", host.dmi.sys_vendor);
    object.text("system_product", host.dmi.product_name);
    object.text("bios_version", host.dmi.bios_version);
    object.text("cpu_model", host.cpu_model);
    object.number("cpus_online", host.cpus_online);
    object.number("numa_nodes", host.numa_nodes);
    object.number("memory_bytes", host.memory_total_bytes);
    object.number("pci_functions", host.pci_functions);
    object.flag("secure_boot", host.secure_boot);
    object.fact("uptime_s", host.uptime_s, [](JsonText& out, double value) { out.decimal(value); });
    json.key("drivers");
    write_drivers(json, host);
    object.end();
}

void write_gpu(JsonText& json, const Device& gpu, const Expectations& expected, Verdict verdict) {
    FactObject object(json);
    json.key("bdf").text(gpu.bdf.str());
    json.key("vendor").text(name_of(gpu.vendor));
    object.text("board_key", of_board(gpu.board, &Board::key));
    object.text("board_name", of_board(gpu.board, &Board::name));
    object.text("driver", gpu.pci.driver);
    object.text("uuid", gpu.vendor == Vendor::nvidia ? gpu.nvidia.uuid : gpu.amd.unique_id);
    object.text("serial", gpu.amd.serial);
    const Fact<std::string>& vbios =
        gpu.vendor == Vendor::nvidia ? gpu.nvidia.vbios_version : gpu.amd.vbios_version;
    object.text("vbios_version", vbios);
    object.number("memory_bytes", gpu.amd.vram_total_bytes);
    json.key("pci");
    write_pci(json, gpu.pci);
    json.key("link");
    write_link(json, gpu, expected);
    json.key("partition");
    if (gpu.vendor == Vendor::amd) {
        write_partition(json, gpu.amd);
    } else {
        json.null();
    }
    const NvState& state = gpu.telemetry.first.nvidia.state;
    if (gpu.vendor == Vendor::nvidia) object.flag("mig", state.mig_current);
    if (state.mig_current.is(true)) object.number("mig_instances", state.mig_instances);
    json.key("nodes");
    write_nodes(json, gpu.nodes);
    write_measurements(json, gpu.burn_in);
    json.key("verdict").text(name_of(verdict));
    object.end();
}

}  // namespace gpucheck::report
