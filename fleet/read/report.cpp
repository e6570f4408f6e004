// A report as it lies on disk, read strictly: a missing or mistyped member must not turn into a default that
// looks healthy.
#include "fleet/read/report.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "agent/report/report_id.h"

namespace gpucheck::fleet {
namespace {

Verdict verdict_of(std::string_view name, const Place& place, Flaw& flaw) {
    const std::optional<Verdict> verdict = verdict_from(name);
    if (!verdict && !flaw) flaw.say(place, "verdict", "is none of gpucheck's verdicts");
    return verdict.value_or(Verdict::unknown);
}

void read_measurements(Gpu& gpu, dom::element element, const Place& up, Vocabulary& names, Flaw& flaw) {
    const Place place{&up, "measurements"};
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return flaw.say(place, "", "is not an object");
    const std::size_t count = object.size();
    if (count > kMostValues) return flaw.say(place, "", "has too many members");
    gpu.values.reserve(count);
    for (const dom::key_value_pair field : object) {
        if (field.key.empty() || field.key.size() > kNameBytes ||
            std::any_of(field.key.begin(), field.key.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
            return flaw.say(place, "", "has a member without a proper name");
        const float value = amount_of(field.value, place, field.key, flaw);
        if (flaw) return;
        gpu.values.push_back({names.intern(field.key), value});
    }
    std::sort(gpu.values.begin(), gpu.values.end(),
              [&](const Value& a, const Value& b) { return names.text(a.metric) < names.text(b.metric); });
    for (std::size_t i = 1; i < gpu.values.size(); ++i) {
        if (gpu.values[i].metric == gpu.values[i - 1].metric)
            return flaw.say(place, names.text(gpu.values[i].metric), "is there twice");
    }
}

constexpr double kGib = 1024.0 * 1024 * 1024;

/// A GPU that fell off the bus answers with ones, and shows 63 lanes: not known.
void read_link(const Members<2>& link, std::uint8_t& generation, std::uint8_t& width) {
    constexpr int kMostGeneration = 15, kMostWidth = 32;  // PCIe has six, and 32 lanes
    const int of_generation = link.count_or_null(0), of_width = link.count_or_null(1);
    if (of_generation > 0 && of_generation <= kMostGeneration)
        generation = static_cast<std::uint8_t>(of_generation);
    if (of_width > 0 && of_width <= kMostWidth) width = static_cast<std::uint8_t>(of_width);
}

/// How the GPU is cut: its makers' own words.
Name read_mode(const Members<13>& gpu, const Place& up, Vocabulary& names, Flaw& flaw) {
    if (const auto partition = gpu.given(9)) {
        static constexpr std::array<std::string_view, 2> kPartition{"compute", "memory"};
        const Place place{&up, "partition"};
        const Members parts(*partition, kPartition, place, flaw);
        const std::string compute(parts.text_or_null(0)), memory(parts.text_or_null(1));
        if (compute.empty() && memory.empty()) return kNoName;
        return names.intern((compute.empty() ? "?" : compute) + (memory.empty() ? "" : "/" + memory));
    }
    if (!gpu.given(10)) return kNoName;
    if (!gpu.flag(10)) return names.intern("whole");
    const int instances = gpu.count_or_null(11);
    return names.intern(instances < 0 ? std::string("MIG") : "MIG " + std::to_string(instances));
}

/// What the GPU and its link are, beside how fast: members that a report may lack.
void read_hardware(Gpu& gpu, const Members<13>& members, const Place& up, Vocabulary& names, Flaw& flaw) {
    gpu.mode = read_mode(members, up, names, flaw);
    gpu.memory_gib = static_cast<float>(members.amount_or_null(7) / kGib);
    const Name capacity = names.find("capacity_bytes");
    for (const Value& value : gpu.values) {
        if (gpu.memory_gib == 0 && capacity != kNoName && value.metric == capacity)
            gpu.memory_gib = static_cast<float>(value.value / kGib);
    }
    if (const auto link = members.given(8)) {
        static constexpr std::array<std::string_view, 2> kRest{"current_generation", "current_width"};
        const Place place{&up, "link"};
        read_link(Members(*link, kRest, place, flaw), gpu.link_generation_rest, gpu.link_width);
    }
    if (const auto experiments = members.given(12)) {
        static constexpr std::array<std::string_view, 1> kLoad{"load"};
        static constexpr std::array<std::string_view, 2> kSeen{"link_generation_max", "link_width_min"};
        const Place place{&up, "experiments"}, inner{&place, "load"};
        if (const auto load = Members(*experiments, kLoad, place, flaw).given(0))
            read_link(Members(*load, kSeen, inner, flaw), gpu.link_generation, gpu.link_width);
    }
}

Gpu read_gpu(dom::element element, const Place& place, std::string& uuid, Vocabulary& names, Flaw& flaw) {
    static constexpr std::array<std::string_view, 13> kNames{
        "bdf",          "board_key", "serial",    "uuid", "verdict",       "measurements", "vbios_version",
        "memory_bytes", "link",      "partition", "mig",  "mig_instances", "experiments"};
    const Members members(element, kNames, place, flaw);
    Gpu gpu;
    gpu.firmware = names.intern(members.text_or_null(6));
    const std::string_view bdf = members.text(0, 32);
    if (bdf.empty()) flaw.say(place, "bdf", "is empty");
    gpu.bdf = names.intern(bdf);
    if (members.present(1)) gpu.board = names.intern(members.text_or_null(1));
    uuid = identity_of({}, members.text_or_null(3));
    gpu.identity = identity_of(members.text_or_null(2), uuid);
    gpu.verdict = verdict_of(members.text(4), place, flaw);
    if (const auto measured = members.given(5)) read_measurements(gpu, *measured, place, names, flaw);
    if (!flaw) read_hardware(gpu, members, place, names, flaw);
    return gpu;
}

Problem read_problem(dom::element element, const Place& place, const NodeReport& report, Vocabulary& names,
                     Flaw& flaw) {
    static constexpr std::array<std::string_view, 6> kNames{"code",  "check",  "verdict",
                                                            "scope", "action", "subject"};
    const Members members(element, kNames, place, flaw);
    Problem problem;
    const std::string_view code = members.text(0), scope = members.text(3), action = members.text(4);
    if (code.empty()) flaw.say(place, "code", "is empty");
    problem.code = names.intern(code);
    problem.check = names.intern(members.text(1));
    problem.verdict = verdict_of(members.text(2), place, flaw);
    if (problem.verdict < Verdict::warn) flaw.say(place, "verdict", "is not one of a finding");
    if (!scope_from(scope)) flaw.say(place, "scope", "is none of guest, host and unknown");
    if (!action_from(action)) flaw.say(place, "action", "is none of gpucheck's actions");
    problem.scope = names.intern(scope);
    problem.action = names.intern(action);
    problem.subject = names.intern(members.text(5, kPathBytes));
    for (std::size_t i = 0; i < report.gpus.size(); ++i) {
        if (report.gpus[i].bdf == problem.subject) problem.gpu = static_cast<int>(i);
    }
    return problem;
}

CostRow read_cost(dom::element element, const Place& place, Vocabulary& names, Flaw& flaw) {
    static constexpr std::array<std::string_view, 5> kNames{"model", "precision", "concurrency",
                                                            "tokens_per_s", "usd_per_m_output"};
    const Members members(element, kNames, place, flaw);
    CostRow row;
    row.model = names.intern(members.text(0));
    row.precision = names.intern(members.text(1));
    row.concurrency = members.amount_or_null(2);
    row.tokens_per_s = members.amount_or_null(3);
    row.usd_per_m_output = members.amount_or_null(4);
    return row;
}

void read_check(dom::element element, const Place& place, NodeReport& report, Verdict& worst,
                Vocabulary& names, Flaw& flaw) {
    static constexpr std::array<std::string_view, 3> kNames{"id", "verdict", "required"};
    const Members members(element, kNames, place, flaw);
    const std::string_view id = members.text(0);
    if (id.empty()) flaw.say(place, "id", "is empty");
    const Verdict verdict = verdict_of(members.text(1), place, flaw);
    const bool required = members.flag(2);
    if (required || verdict != Verdict::unknown) worst = std::max(worst, verdict);
    report.checks.push_back({names.intern(id), verdict});
}

/// Calls `read(element, place)` for each item of a bounded list, into which `rows` is to grow.
template <class Rows, class Read>
void each(std::optional<dom::array> items, std::string_view name, std::size_t most, Rows& rows, Flaw& flaw,
          Read read) {
    if (!items || flaw) return;
    const std::size_t count = items->size();
    if (count > most) return flaw.say({}, name, "has more than " + std::to_string(most) + " items");
    rows.reserve(count);
    Place place{nullptr, name, 0};
    for (const dom::element item : *items) {
        read(item, place);
        if (flaw) return;
        ++place.index;
    }
}

void read_instance(dom::element element, NodeReport& report, std::string& id, Vocabulary& names, Flaw& flaw) {
    static constexpr std::array<std::string_view, 6> kNames{"provider", "type", "id",
                                                            "region",   "zone", "price"};
    const Place place{nullptr, "instance"};
    const Members members(element, kNames, place, flaw);
    report.provider = names.intern(members.text_or_null(0));
    report.instance_type = names.intern(members.text_or_null(1));
    id = members.text_or_null(2);
    report.region = names.intern(members.text_or_null(3));
    report.zone = names.intern(members.text_or_null(4));
    if (const auto price = members.given(5)) {
        static constexpr std::array<std::string_view, 1> kPrice{"instance_usd"};
        const Place inner{&place, "price"};
        report.usd_per_hour = Members(*price, kPrice, inner, flaw).amount_or_null(0);
    }
}

std::string read_host(dom::element element, NodeReport& report, Vocabulary& names, Flaw& flaw) {
    static constexpr std::array<std::string_view, 4> kNames{"hostname", "kernel", "os", "drivers"};
    static constexpr std::array<std::string_view, 2> kDrivers{"nvidia", "amdgpu"};
    const Place place{nullptr, "host"};
    const Members members(element, kNames, place, flaw);
    report.kernel = names.intern(members.text_or_null(1));
    report.os = names.intern(members.text_or_null(2));
    if (const auto drivers = members.given(3)) {
        const Place inner{&place, "drivers"};
        const Members versions(*drivers, kDrivers, inner, flaw);
        std::string driver;
        for (std::size_t i = 0; i < kDrivers.size(); ++i) {
            const std::string_view version = versions.text_or_null(i);
            if (version.empty()) continue;
            driver += (driver.empty() ? "" : ", ") + std::string(kDrivers[i]) + ' ' + std::string(version);
        }
        report.driver = names.intern(driver);
    }
    return std::string(members.text_or_null(0));
}

void name_machine(NodeReport& report, const std::string& hostname, const std::string& instance_id,
                  const Vocabulary& names, Flaw& flaw) {
    const std::string& provider = names.text(report.provider);
    const bool instance = !provider.empty() && !instance_id.empty();
    report.node = !hostname.empty()         ? hostname
                  : instance                ? provider + '/' + instance_id
                  : !report.boot_id.empty() ? key_of_boot(report.boot_id)
                                            : std::string();
    if (report.node.empty()) flaw.say("names no machine: host name, instance id and boot id are all unknown");
    report.key = instance            ? key_of_instance(provider, instance_id)
                 : !hostname.empty() ? key_of_host(hostname)
                                     : report.node;
}

constexpr std::array<std::string_view, 17> kReport{
    "schema_version", "report_id", "created",  "boot_id",   "tool",     "profile",
    "simulated",      "injected",  "verdict",  "gpu_count", "instance", "host",
    "gpus",           "checks",    "findings", "cost",      "machine"};
enum Member : std::size_t {
    kVersion,
    kId,
    kCreated,
    kBoot,
    kTool,
    kProfile,
    kSimulated,
    kInjected,
    kVerdict,
    kCount,
    kInstance,
    kHost,
    kGpus,
    kChecks,
    kFindings,
    kCost,
    kMachine,
};
using Top = Members<kReport.size()>;

bool says_something(const std::optional<dom::element>& member) {
    bool value = false;
    return member && !(member->get(value) == simdjson::SUCCESS && !value);
}

void read_head(const Top& top, const Place& place, NodeReport& report, Vocabulary& names, Flaw& flaw) {
    report.report_id = top.text(kId);
    if (!flaw && !report::is_report_id(report.report_id))
        flaw.say(place, "report_id", "is no UUID of version 7");
    report.created = utc_of(top.text(kCreated));
    if (!flaw && report.created.empty()) flaw.say(place, "created", "is not a time");
    if (top.present(kBoot)) report.boot_id = top.text_or_null(kBoot);
    if (const auto element = top.element(kTool)) {
        static constexpr std::array<std::string_view, 1> kTool1{"version"};
        const Place tool{nullptr, "tool"};
        report.tool_version = names.intern(Members(*element, kTool1, tool, flaw).text(0));
    }
    const std::string_view profile = top.text(kProfile);
    if (!flaw && !profile_from(profile)) flaw.say(place, "profile", "is none of gpucheck's profiles");
    report.profile = names.intern(profile);
    // Whatever says that it was a rehearsal is believed, however it says it.
    report.simulated = top.flag(kSimulated) || says_something(top.given(kMachine));
    if (top.present(kInjected)) report.injected = says_something(top.given(kInjected));
    report.verdict = verdict_of(top.text(kVerdict), place, flaw);
    if (!flaw && report.verdict == Verdict::not_applicable)
        flaw.say(place, "verdict", "is not one of a machine");
}

void read_count(dom::element element, NodeReport& report, Flaw& flaw) {
    static constexpr std::array<std::string_view, 3> kNames{"expected", "pci", "bound"};
    const Place place{nullptr, "gpu_count"};
    const Members count(element, kNames, place, flaw);
    report.gpus_expected = count.count_or_null(0);
    const int pci = count.count_or_null(1);
    report.gpus_bound = count.count_or_null(2);
    report.gpus_found = pci >= 0 ? pci : report.gpus_bound;
}

void read_rows(const Top& top, NodeReport& report, Vocabulary& names, Flaw& flaw) {
    std::vector<std::string> uuids;
    each(top.array(kGpus), "gpus", kMostGpus, report.gpus, flaw, [&](dom::element item, const Place& place) {
        std::string uuid;
        Gpu gpu = read_gpu(item, place, uuid, names, flaw);
        // One GPU in two slots: the other one was never there.
        if (report.verdict != Verdict::fail && !uuid.empty() &&
            std::find(uuids.begin(), uuids.end(), uuid) != uuids.end())
            flaw.say(place, "uuid", "is that of another GPU of the report");
        uuids.push_back(std::move(uuid));
        for (const Gpu& other : report.gpus) {
            if (other.bdf == gpu.bdf) flaw.say(place, "bdf", "is that of another GPU of the report");
        }
        report.gpus.push_back(std::move(gpu));
    });
    Verdict worst = Verdict::not_applicable;
    each(top.array(kChecks), "checks", kMostRows, report.checks, flaw,
         [&](dom::element item, const Place& place) { read_check(item, place, report, worst, names, flaw); });
    each(top.array(kFindings), "findings", kMostRows, report.problems, flaw,
         [&](dom::element item, const Place& place) {
             report.problems.push_back(read_problem(item, place, report, names, flaw));
         });
    each(top.array(kCost), "cost", kMostRows, report.costs, flaw, [&](dom::element item, const Place& place) {
        report.costs.push_back(read_cost(item, place, names, flaw));
    });
    if (!flaw) contradict(report, names, worst, flaw);
}

}  // namespace

NodeReport report_from(dom::element document, Vocabulary& names, Flaw& flaw) {
    const Place place;
    const Top top(document, kReport, place, flaw);
    NodeReport report;
    const std::string_view version = top.text(kVersion);
    if (flaw) return report;
    if (!version.starts_with("1.") || version.size() < 3 || version.size() > 12 ||
        version.find_first_not_of("0123456789", 2) != std::string_view::npos) {
        flaw.say("schema version " + std::string(version) + " is not known to this version of gpucheck");
        return report;
    }
    read_head(top, place, report, names, flaw);
    if (const auto count = top.element(kCount)) read_count(*count, report, flaw);
    std::string instance_id, hostname;
    if (const auto instance = top.element(kInstance))
        read_instance(*instance, report, instance_id, names, flaw);
    if (const auto host = top.element(kHost)) hostname = read_host(*host, report, names, flaw);
    if (!flaw) name_machine(report, hostname, instance_id, names, flaw);
    if (!flaw) read_rows(top, report, names, flaw);
    return report;
}

}  // namespace gpucheck::fleet
