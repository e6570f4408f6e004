// Builds the reports of samples.h.
#include "tests/report/samples.h"

#include <algorithm>

#include "tests/checks/healthy.h"
#include "tests/json/struct_tools.h"

namespace gpucheck::report {

const Check kCountCheck{.id = "gpu.count", .title = "Number of GPUs"};
const Check kLinkCheck{.id = "pcie.link", .title = "PCIe width and path"};
const Check kKfdCheck{.id = "kfd", .title = "KFD topology"};
const Check kTelemetryCheck{.id = "telemetry", .title = "Vendor telemetry", .required_from = Profile::boot};

namespace {

Report base(Snapshot snapshot) {
    Report report;
    report.report_id = "01935f4e-8c00-7abc-9def-0123456789ab";
    report.created = "2026-11-30T10:00:00Z";
    report.tool_version = "0.1.0";
    report.duration_s = 0.0213;
    report.snapshot = std::move(snapshot);
    return report;
}

Findings passes(std::string_view code, const Snapshot& snapshot) {
    Findings findings;
    for (const Device& gpu : snapshot.gpus) {
        findings.push_back(finding(code, Verdict::pass, gpu.bdf, "x16", "x16", "current_link_width"));
    }
    return findings;
}

Finding telemetry_absent() {
    return finding("telemetry.absent", Verdict::unknown, {}, "answers of the vendor's library",
                   "not looked at", "NVML");
}

Device copy_at(const Device& original, std::uint8_t bus) {
    Device copy = original;
    copy.bdf.bus = copy.pci.bdf.bus = bus;
    return copy;
}

}  // namespace

CheckLine line(const Check& check, bool required, Findings findings) {
    CheckLine line;
    line.result.check = &check;
    line.result.required = required;
    line.result.findings = std::move(findings);
    line.result.verdict = Verdict::not_applicable;
    for (const Finding& finding : line.result.findings)
        line.result.verdict = std::max(line.result.verdict, finding.verdict);
    line.duration_ms = 0.25;
    return line;
}

CheckLine not_applicable(const Check& check, std::string reason) {
    CheckLine line;
    line.result.check = &check;
    line.result.verdict = Verdict::not_applicable;
    line.result.reason = std::move(reason);
    return line;
}

void settle(Report& report) {
    std::vector<CheckResult> results;
    for (const CheckLine& line : report.checks) results.push_back(line.result);
    report.verdict = aggregate(results);
}

Report passing() {
    Report report = base(healthy_h100_x8());
    report.checks = {
        line(kCountCheck, true, {finding("gpu.count", Verdict::pass, {}, "8", "8", "/sys/bus/pci/devices")}),
        line(kLinkCheck, true, passes("pcie.link", report.snapshot)), not_applicable(kKfdCheck, "no AMD GPU"),
        line(kTelemetryCheck, false, {telemetry_absent()})};
    report.cost.rows = {
        R"({"model":"llama-3.1-8b","precision":"fp8","weight_only":false,"kv_precision":"fp8","isl":1000,"osl":1000,)"
        R"("point":"single_user","concurrency":1,"n_gpus":1,"instance_gpus":8,"fits":true,"max_concurrency":900,)"
        R"("tokens_per_s":250.5,"tokens_per_s_instance":2004,"tokens_per_s_per_gpu":250.5,"tokens_per_s_per_user":252,)"
        R"("ttft_ms":20,"usd_per_m_input":null,"usd_per_m_output":null,"usd_per_m_output_blended":null,)"
        R"("usd_per_m_output_blended_at_utilization":null,"gpu_tokens_per_joule":0.4,)"
        R"("band":{"low":192.7,"high":325.6,"coverage":0.9},"method":"analytic","reason":null,"reason_text":null,)"
        R"("basis":{"kind":"measured"},"reference":null,"warnings":[]})"};
    report.cost.shortfalls = {"HBM bandwidth at 91 % of a healthy one"};
    report.cost.notes = {"healthy: as published"};
    report.cost.lines = {"llama-3.1-8b in fp8: 2000 output tokens/s of the instance"};
    settle(report);
    return report;
}

Report failing() {
    Report report = passing();
    report.snapshot.gpus.pop_back();
    report.snapshot.instance.provider = fact("aws");
    report.snapshot.instance.type = fact("p5.48xlarge");
    report.snapshot.instance.price =
        fact(HourlyPrice{fact(55.04), fact(6.88), fact("on-demand"), fact("2026-10-08"), fact(false)});
    report.cost = {};
    report.cost.missing = "no_measurement: GPU 0000:19:00.0 failed: a failed GPU gets no tokens/s";
    report.checks[0] = line(
        kCountCheck, true, {finding("gpu.count.missing", Verdict::fail, {}, "8 GPUs", "7 GPUs", "--expect")});
    report.checks[0].result.findings[0].scope = Scope::host;
    Findings links = passes("pcie.link", report.snapshot);
    for (std::size_t i = 0; i < 3; ++i) {
        links[i].code = "example.link.narrow";
        links[i].verdict = Verdict::fail;
        links[i].observed = "x8";
    }
    report.checks[1] = line(kLinkCheck, true, links);
    static const Check clock{.id = "clock", .title = "System clock"};
    Finding wrong = finding("clock.wrong", Verdict::warn, {}, "after 2026-01-01T00:00:00Z",
                            "1970-01-01T00:00:09Z", "the clock");
    wrong.count = 14;
    wrong.first = "2026-11-30T09:00:00Z";
    wrong.last = "2026-11-30T09:59:00Z";
    report.checks.insert(report.checks.begin(), line(clock, true, {wrong}));
    settle(report);
    return report;
}

Report unknowing() {
    Report report = passing();
    report.profile = Profile::boot;
    report.checks[3] = line(kTelemetryCheck, true, {telemetry_absent()});
    report.simulated = true;
    report.machine = "tests/machines/h100-x8";
    settle(report);
    return report;
}

Report empty_machine() {
    Snapshot snapshot;
    snapshot.host.hostname = fact("plain-vm");
    snapshot.host.pci_functions = fact(17U);
    snapshot.host.kfd.gpu_nodes = Missing{"/sys/class/kfd", "ENOENT"};
    snapshot.host.nvidia.proc_gpus = Missing{"/proc/driver/nvidia", "ENOENT"};
    Report report = base(snapshot);
    report.checks = {not_applicable(kCountCheck, "no GPU was promised and none was found"),
                     not_applicable(kLinkCheck, "no GPU"), not_applicable(kKfdCheck, "no AMD GPU")};
    settle(report);
    return report;
}

Report partitioned() {
    Snapshot snapshot = healthy_mi300x_vf();
    const Device original = snapshot.gpus.front();
    snapshot.gpus.clear();
    for (std::uint8_t i = 0; i < 8; ++i) {
        Device gpu = copy_at(original, static_cast<std::uint8_t>(0x05 + 0x20 * i));
        gpu.amd.compute_partition = fact("CPX");
        gpu.amd.memory_partition = fact("NPS4");
        gpu.amd.kfd_nodes.assign(i == 7 ? 7 : 8, original.amd.kfd_nodes.front());
        snapshot.gpus.push_back(std::move(gpu));
    }
    snapshot.expected.gpu_count = Fact<unsigned>(8, "--expect");
    Report report = base(std::move(snapshot));
    report.checks = {line(kLinkCheck, true, passes("pcie.link", report.snapshot))};
    settle(report);
    return report;
}

Report crowded() {
    Snapshot snapshot = healthy_mi300x_vf();
    const Device original = snapshot.gpus.front();
    snapshot.gpus.clear();
    for (unsigned i = 0; i < 64; ++i)
        snapshot.gpus.push_back(copy_at(original, static_cast<std::uint8_t>(i + 1)));
    snapshot.expected.gpu_count = Missing{};
    Report report = base(std::move(snapshot));
    report.checks = {line(kLinkCheck, true, passes("pcie.link", report.snapshot))};
    settle(report);
    return report;
}

namespace {

/// Puts one text into every string of a snapshot.
struct Poison {
    const std::string& text;

    template <class T>
    void into(T& value) {
        using namespace model_json;
        if constexpr (std::is_same_v<T, std::string>) {
            value = text;
        } else if constexpr (is_a<T, Fact>) {
            typename T::value_type known{};
            into(known);
            if constexpr (std::is_same_v<typename T::value_type, bool>) {
                value = Missing{text, text};
            } else {
                value = T(std::move(known), text);
            }
        } else if constexpr (is_a<T, std::vector>) {
            for (auto& element : value) into(element);
        } else if constexpr (HasFields<T>) {
            T::fields([&](const auto&... field) { (into(value.*field.member), ...); });
        }
    }
};

}  // namespace

Report hostile(const std::string& text) {
    Report report = failing();
    if (text.size() > 1000) report.snapshot.gpus.resize(1);  // every string of it is copied hundreds of times
    Poison{text}.into(report.snapshot);
    report.injected = report.machine = report.tool_version = text;
    report.cost = {{}, {text}, {text}, {text}, text};
    for (CheckLine& line : report.checks) {
        line.result.reason = text;
        for (Finding& finding : line.result.findings) {
            finding.subject.id = finding.expected = finding.observed = finding.source = finding.message =
                text;
            finding.first = finding.last = text;
        }
    }
    return report;
}

const std::vector<std::string>& hostile_texts() {
    static const std::vector<std::string> texts{
        "\x1b[2J\x1b]0;owned\x07\x1b[31mPASS\r\nPASS: fine\b\b\x7f",
        "\xc2\x9b"
        "31m \xc2\x85 \xe2\x80\xae"
        "drowssap \xe2\x80\x8b \xe2\x80\xa8 \xef\xbb\xbf \xef\xbf\xbe \xf3\xa0\x81\x81",
        "<script>alert('x')</script> ]]> --> &amp; \" ' \\ \\n {} | ; `$(reboot)`",
        std::string("nul\0in\x01side\x1f", 12),
        "\xff\xfe\xc0\x80 \xed\xa0\x80 \xf0\x9f\x98",
        std::string(1 << 20, 'A'),
        std::string(1 << 16, '\x1b'),
        std::string(1 << 16, '\xe2'),
        "",
        "\n\n\n",
        "caf\xc3\xa9 \xf0\x9f\x98\x80 \xe6\x97\xa5\xe6\x9c\xac",
    };
    return texts;
}

std::vector<std::pair<std::string, Report>> all_samples() {
    std::vector<std::pair<std::string, Report>> samples{
        {"passing", passing()},     {"failing", failing()},         {"unknowing", unknowing()},
        {"empty", empty_machine()}, {"partitioned", partitioned()}, {"crowded", crowded()}};
    for (std::size_t i = 0; i < hostile_texts().size(); ++i) {
        samples.emplace_back("hostile" + std::to_string(i), hostile(hostile_texts()[i]));
    }
    return samples;
}

}  // namespace gpucheck::report
