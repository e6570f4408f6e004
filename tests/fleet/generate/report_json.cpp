// Written piece by piece, because 100,000 documents as trees take minutes; see report_json.h. The names here
// need no escapes.
#include "tests/fleet/generate/report_json.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace gpucheck::fleet {
namespace {

struct CheckRow {
    const char* id;
    const char* title;
};
constexpr std::array kChecks{CheckRow{"run", "The run itself"},
                             CheckRow{"gpu.count", "Number of GPUs"},
                             CheckRow{"gpu.expected", "Expected number of GPUs"},
                             CheckRow{"driver.bound", "Driver bound to each GPU"},
                             CheckRow{"driver.loaded", "Driver loaded"},
                             CheckRow{"driver.dkms", "Driver build (DKMS)"},
                             CheckRow{"driver.version", "Driver version"},
                             CheckRow{"driver.rocm", "ROCm version"},
                             CheckRow{"kernel.version", "Kernel version"},
                             CheckRow{"driver.firmware", "Firmware versions"},
                             CheckRow{"gpu.board", "Kind of GPU"},
                             CheckRow{"gpu.units", "Compute units"},
                             CheckRow{"gpu.memory", "Memory size"},
                             CheckRow{"nodes.access", "Device nodes"},
                             CheckRow{"kfd.topology", "KFD topology"},
                             CheckRow{"kfd.ecc", "ECC of AMD accelerators"},
                             CheckRow{"amd.identity", "Identity of AMD GPUs"},
                             CheckRow{"nvidia.excluded", "Excluded GPUs"},
                             CheckRow{"pcie.width", "PCIe width of each GPU"},
                             CheckRow{"pcie.path", "PCIe path up to the root port"},
                             CheckRow{"pcie.pinned", "PCIe links pinned by hand"},
                             CheckRow{"pcie.generation", "PCIe generation (judged under load)"},
                             CheckRow{"pcie.aer", "PCIe errors on the way to each GPU"},
                             CheckRow{"pcie.power", "Power state of each GPU"},
                             CheckRow{"pcie.bar", "PCI memory windows of each GPU"},
                             CheckRow{"gpu.partition", "Partition mode of AMD GPUs"},
                             CheckRow{"gpu.link", "Promised link between the GPUs"},
                             CheckRow{"nic.count", "Network functions for GPU traffic"},
                             CheckRow{"nvme.count", "Local NVMe drives"},
                             CheckRow{"instance.price", "Price of the instance"},
                             CheckRow{"gpu.numa", "NUMA node of each GPU"},
                             CheckRow{"library.match", "Vendor libraries against the kernel module"},
                             CheckRow{"env.visible", "GPUs hidden by environment variables"},
                             CheckRow{"env.settings", "Environment variables that change GPU behaviour"},
                             CheckRow{"container.devices", "GPUs passed to the container"},
                             CheckRow{"host.settings", "Kernel settings of the host"},
                             CheckRow{"disk.space", "Free disk space"},
                             CheckRow{"time.sync", "Time synchronisation"},
                             CheckRow{"env.metadata", "Proxy in front of the metadata service"},
                             CheckRow{"clock", "System clock"},
                             CheckRow{"kernel.log", "Kernel log"},
                             CheckRow{"nvml.coverage", "NVML answers for every GPU"},
                             CheckRow{"nvidia.recovery", "Recovery that the NVIDIA driver asks for"},
                             CheckRow{"nvidia.inforom", "InfoROM"}};

class Line {
  public:
    Line(std::string& out, const Vocabulary& names) : out_(out), names_(names) {}

    Line& raw(std::string_view text) {
        out_ += text;
        return *this;
    }
    Line& text(std::string_view value) {
        if (value.empty()) return raw("null");
        return raw("\"").raw(value).raw("\"");
    }
    Line& text(Name name) { return text(names_.text(name)); }
    Line& number(double value) {
        char digits[40];
        std::snprintf(digits, sizeof digits, value == std::floor(value) ? "%.0f" : "%.7g", value);
        return raw(digits);
    }

  private:
    std::string& out_;
    const Vocabulary& names_;
};

void append_gpu(Line& line, const Gpu& gpu, bool amd, std::string_view tail) {
    line.raw("{\"bdf\":").text(gpu.bdf).raw(amd ? ",\"vendor\":\"amd\"" : ",\"vendor\":\"nvidia\"");
    line.raw(",\"board_key\":").text(gpu.board).raw(",\"board_name\":").text(gpu.board);
    line.raw(amd ? ",\"driver\":\"amdgpu\"" : ",\"driver\":\"nvidia\"");
    line.raw(",\"uuid\":").text(gpu.identity).raw(",\"serial\":null,\"vbios_version\":").text(gpu.firmware);
    line.raw(tail).raw(",\"verdict\":").text(name_of(gpu.verdict)).raw(",\"measurements\":{");
    for (std::size_t i = 0; i < gpu.values.size(); ++i)
        line.raw(i == 0 ? "" : ",").text(gpu.values[i].metric).raw(":").number(gpu.values[i].value);
    line.raw("}}");
}

/// What is the same in every GPU of a synthetic fleet.
std::string gpu_tail(bool amd) {
    return std::string(",\"memory_bytes\":85520809984,\"pci\":{\"vendor\":\"") + (amd ? "1002" : "10de") +
           "\",\"device\":\"" + (amd ? "74a1" : "2330") + "\",\"sub_vendor\":\"" + (amd ? "1002" : "10de") +
           "\",\"sub_device\":\"16c1\",\"class\":\"030200\",\"revision\":\"a1\",\"numa_node\":0,\"missing\":{"
           "}},"
           "\"link\":{\"current_generation\":5,\"current_width\":16,\"max_generation\":5,\"max_width\":16,"
           "\"expected_generation\":5,\"expected_width\":16,\"path_max_gb_s\":null,\"path_limited_by\":null,"
           "\"missing\":{\"path_max_gb_s\":{\"why\":\"not every link up to the root port could be "
           "read\",\"source\":"
           "null}}}," +
           (amd ? "\"partition\":{\"compute\":\"SPX\",\"memory\":\"NPS1\",\"logical_gpus\":1,\"missing\":{}}"
                : "\"partition\":null,\"mig\":false") +
           ",\"nodes\":[],\"missing\":{\"serial\":{\"why\":\"not looked at\",\"source\":null}}";
}

void append_problem(Line& line, const Problem& problem) {
    line.raw("{\"code\":").text(problem.code).raw(",\"check\":").text(problem.check).raw(",\"verdict\":");
    line.text(name_of(problem.verdict)).raw(",\"scope\":").text(problem.scope).raw(",\"subject\":");
    line.text(problem.subject).raw(",\"expected\":null,\"observed\":null,\"source\":null,\"message\":");
    line.text(problem.code).raw(",\"action\":").text(problem.action);
    line.raw(",\"remedy\":null,\"count\":1,\"first\":null,\"last\":null}");
}

void append_checks(Line& line) {
    line.raw(",\"checks\":[");
    for (std::size_t i = 0; i < kChecks.size(); ++i) {
        line.raw(i == 0 ? "" : ",")
            .raw("{\"id\":")
            .text(kChecks[i].id)
            .raw(",\"title\":")
            .text(kChecks[i].title);
        line.raw(
            ",\"verdict\":\"pass\",\"required\":true,\"impact\":\"passive\",\"reason\":null,\"findings\":1,"
            "\"duration_ms\":0.014}");
    }
    line.raw("]");
}

}  // namespace

void append_report(std::string& out, const NodeReport& report, const Vocabulary& names) {
    Line line(out, names);
    const std::string& driver = names.text(report.driver);
    const bool amd = driver.starts_with("amdgpu");
    const std::string_view version = std::string_view(driver).substr(driver.find(' ') + 1);
    line.raw("{\"schema_version\":\"1.0\",\"report_id\":")
        .text(report.report_id)
        .raw(",\"created\":")
        .text(report.created);
    line.raw(",\"boot_id\":")
        .text(report.boot_id)
        .raw(",\"tool\":{\"name\":\"gpucheck\",\"version\":")
        .text(report.tool_version);
    line.raw("},\"profile\":").text(report.profile).raw(",\"duration_s\":48.2,\"simulated\":");
    line.raw(report.simulated ? "true" : "false").raw(",\"injected\":null,\"machine\":null,\"verdict\":");
    line.text(name_of(report.verdict)).raw(",\"gpu_count\":{\"expected\":").number(report.gpus_expected);
    line.raw(",\"pci\":").number(report.gpus_found).raw(",\"bound\":").number(report.gpus_bound);
    line.raw("},\"instance\":{\"provider\":")
        .text(report.provider)
        .raw(",\"type\":")
        .text(report.instance_type);
    line.raw(",\"id\":")
        .text(report.node)
        .raw(",\"region\":")
        .text(report.region)
        .raw(",\"zone\":")
        .text(report.zone);
    line.raw(
        ",\"lifecycle\":null,\"price\":null,\"sources\":{},\"missing\":{}},\"readiness\":null,\"host\":{"
        "\"hostname\":");
    line.text(report.node).raw(",\"kernel\":").text(report.kernel).raw(",\"os\":").text(report.os);
    line.raw(
        ",\"hypervisor\":\"none\",\"container\":\"none\",\"system_vendor\":\"Synthetic\",\"system_product\":"
        "null,"
        "\"bios_version\":null,\"cpu_model\":null,\"cpus_online\":192,\"numa_nodes\":2,\"memory_bytes\":"
        "2164218920960,"
        "\"pci_functions\":64,\"secure_boot\":false,\"uptime_s\":120,\"drivers\":{\"nvidia\":");
    line.text(amd ? std::string_view() : version)
        .raw(",\"amdgpu\":")
        .text(amd ? version : std::string_view());
    line.raw(",\"rocm\":null,\"missing\":{}},\"missing\":{}},\"gpus\":[");
    const std::string tail = gpu_tail(amd);
    for (std::size_t i = 0; i < report.gpus.size(); ++i) {
        line.raw(i == 0 ? "" : ",");
        append_gpu(line, report.gpus[i], amd, tail);
    }
    line.raw("]");
    append_checks(line);
    line.raw(",\"findings\":[");
    for (std::size_t i = 0; i < report.problems.size(); ++i) {
        line.raw(i == 0 ? "" : ",");
        append_problem(line, report.problems[i]);
    }
    line.raw(
        "],\"not_checked\":[{\"check\":\"driver.rocm\",\"code\":null,\"subject\":null,\"verdict\":\"not_"
        "applicable\","
        "\"reason\":\"no GPU is bound to amdgpu\"}],\"cost\":[],\"cost_missing\":null,\"cost_shortfalls\":[],"
        "\"cost_notes\":[]}\n");
}

}  // namespace gpucheck::fleet
