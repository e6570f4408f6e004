// The report for the node exporter's textfile collector: one malformed line makes it drop the whole file, and
// a machine without a sample raises no alert.
#include <charconv>
#include <cmath>
#include <map>

#include "agent/report/escape.h"
#include "agent/report/render.h"
#include "agent/report/report_id.h"
#include "agent/report/view.h"

namespace gpucheck::report {
namespace {

constexpr std::string_view kScale = "0 not applicable, 1 pass, 2 warn, 3 unknown, 4 fail";

void family(std::string& out, std::string_view name, std::string_view help) {
    out += "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " + std::string(name) +
           " gauge\n";
}

std::string decimal(double value) {
    if (!std::isfinite(value)) return "NaN";
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return std::string(buffer, end);
}

void single(std::string& out, std::string_view name, std::string_view help, const std::string& value) {
    family(out, name, help);
    out += std::string(name) + " " + value + "\n";
}

std::string quoted(std::string_view name, std::string_view value) {
    return std::string(name) + "=\"" + label(value) + "\"";
}

void write_info(std::string& out, const Report& report) {
    family(out, "gpucheck_info", "What made this file; always 1.");
    out += "gpucheck_info{" + quoted("version", report.tool_version) + "," +
           quoted("profile", name_of(report.profile)) + "," +
           quoted("simulated", report.simulated ? "true" : "false") + "," +
           quoted("injected", report.injected) + "} 1\n";
}

// Samples of one family must differ in their labels, so equal ones are added up; a map also sorts them.
using Samples = std::map<std::string, std::uint64_t>;

void write_samples(std::string& out, std::string_view name, std::string_view help, const Samples& samples) {
    if (samples.empty()) return;
    family(out, name, help);
    for (const auto& [labels, value] : samples) {
        out += std::string(name) + "{" + labels + "} " + std::to_string(value) + "\n";
    }
}

Samples check_samples(const Report& report) {
    Samples samples;
    for (const CheckLine& line : report.checks) {
        const std::string_view id = line.result.check != nullptr ? line.result.check->id : "unnamed";
        std::uint64_t& value = samples[quoted("check", id)];
        value = std::max(value, static_cast<std::uint64_t>(line.result.verdict));
    }
    return samples;
}

Samples finding_samples(const View& view) {
    Samples samples;
    for (const Problem& problem : view.problems) {
        samples[quoted("code", problem.code) + "," + quoted("subject", problem.subject) + "," +
                quoted("verdict", name_of(problem.verdict))] += problem.count;
    }
    return samples;
}

// What could not be counted has no sample: 0 would claim that somebody counted.
Samples gpu_samples(const GpuCount& count) {
    Samples samples;
    if (count.expected) samples[quoted("state", "expected")] = *count.expected;
    if (count.pci) samples[quoted("state", "pci")] = *count.pci;
    if (count.bound) samples[quoted("state", "bound")] = *count.bound;
    return samples;
}

}  // namespace

std::string render_prometheus(const Report& report) {
    const View view = view_of(report);
    const std::string scale = ": " + std::string(kScale) + ".";
    std::string out;
    write_info(out, report);
    single(out, "gpucheck_verdict", "The machine" + scale,
           std::to_string(static_cast<unsigned>(report.verdict)));
    write_samples(out, "gpucheck_check_verdict", "Each check" + scale, check_samples(report));
    write_samples(out, "gpucheck_finding", "Occurrences of each fault, warning and required unknown.",
                  finding_samples(view));
    write_samples(out, "gpucheck_gpus",
                  "GPUs that were promised, that PCI shows, and that a compute driver holds.",
                  gpu_samples(view.count));
    single(out, "gpucheck_not_checked", "Things that were not judged and do not count in the verdict.",
           std::to_string(view.not_checked.size()));
    if (const auto created = unix_seconds(report.created)) {
        single(out, "gpucheck_run_timestamp_seconds", "When the run ended, in seconds since 1970.",
               std::to_string(*created));
    }
    single(out, "gpucheck_run_duration_seconds", "How long the run took.", decimal(report.duration_s));
    return out;
}

}  // namespace gpucheck::report
