// Finds GPUs that compute wrong results or lose bits in memory, which no counter tells and which costs weeks
// of training before anybody notices.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "checks/all.h"
#include "checks/burn_facts.h"
#include "checks/gpus.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "burn";

bool ran_on_any(const Snapshot& snapshot) {
    return std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(), [](const Device& gpu) {
        const auto& results = gpu.burn_in.results;
        return results.known() || results.why().starts_with("in use");
    });
}

NotApplicable applies(const Snapshot& snapshot) {
    if (snapshot.gpus.empty()) return "no GPU found";
    // That none ran at all is said by the check "experiments".
    if (!ran_on_any(snapshot)) return "no experiment ran";
    return std::nullopt;
}

std::string name_of_experiment(const ExperimentResult& result) {
    std::string name = result.experiment;
    if (!result.variant.empty()) name += " " + result.variant;
    if (!result.peer.empty()) name += " to " + result.peer;
    return name;
}

std::string hex(std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
    return text;
}

std::string seed_of(const ExperimentResult& result) {
    return result.seed.known() ? "seed " + std::to_string(*result.seed) : "seed not known";
}

void add_place(std::string& text, const char* name, const Fact<std::uint64_t>& place) {
    if (place.known()) text += std::string(" ") + name + " " + std::to_string(*place);
}

/// "offset 0x1000 unit 3, expected 0x0, got 0x8".
std::string where(const MismatchRecord& record) {
    std::string text = record.offset.known() ? " offset " + hex(*record.offset) : "";
    add_place(text, "unit", record.unit);
    if (!record.offset.known()) {
        add_place(text, "block", record.block);
        add_place(text, "wave", record.wave);
        add_place(text, "lane", record.lane);
        add_place(text, "register", record.element);
    }
    return text.substr(text.empty() ? 0 : 1) + ", expected " + hex(record.expected) + ", got " +
           hex(record.got);
}

bool right(const ExperimentResult& result) {
    return result.ran.is(true) && result.mismatches.is(0U) && result.values_checked.known() &&
           result.values_expected.known() && *result.values_checked == *result.values_expected;
}

/// Another GPU of the machine with the same architecture did the same and was right: the kernel is.
bool proven_by_neighbour(const Snapshot& snapshot, const Device& gpu, const ExperimentResult& result) {
    for (const Device& other : snapshot.gpus) {
        if (&other == &gpu || !other.burn_in.results.known() || !gpu.burn_in.architecture.known() ||
            !other.burn_in.architecture.is(*gpu.burn_in.architecture))
            continue;
        for (const ExperimentResult& each : *other.burn_in.results) {
            if (each.experiment == result.experiment && each.variant == result.variant && right(each))
                return true;
        }
    }
    return false;
}

/// Faults of silicon are local: a unit, a lane, a stack of memory. Arithmetic that is wrong on each of many
/// units, twice over, is what a kernel or compiler that does not fit this GPU looks like too, and a whole GPU
/// must not be condemned by that. Memory is left out: a broken address line is seen by every unit; so are a
/// few broken words of the operands that gemm reads, and only where a large part is wrong gemm counts as
/// arithmetic.
bool wrong_everywhere(const ExperimentResult& result) {
    constexpr std::uint64_t kMany = 8;
    const bool large = result.mismatches.known() && result.values_checked.known() &&
                       *result.mismatches >= *result.values_checked / 16;
    if (result.experiment != "matrix" && !(result.experiment == "gemm" && large)) return false;
    return !result.injected.known() && result.repeat.is("sticky") && result.units_tested.known() &&
           *result.units_tested >= kMany && result.by_unit.size() >= *result.units_tested;
}

Finding wrong(const Snapshot& snapshot, const Device& gpu, const ExperimentResult& result) {
    std::string observed = name_of_experiment(result) + ": " + std::to_string(*result.mismatches) + " wrong";
    if (result.values_checked.known()) observed += " of " + std::to_string(*result.values_checked);
    if (!result.records.empty()) observed += "; first at " + where(result.records.front());
    if (result.repeat.known()) {
        observed += result.repeat.is("sticky") ? "; wrong again with the same seed"
                                               : "; right with the same seed once more";
    }
    if (!result.by_unit.empty()) observed += "; on " + count_of(result.by_unit.size(), "unit");
    observed += "; " + seed_of(result);
    const std::string expected = "every value as computed on the host";
    if (wrong_everywhere(result) && !proven_by_neighbour(snapshot, gpu, result)) {
        return finding("burn.wrong.everywhere", Verdict::unknown, gpu.bdf, expected,
                       observed + "; no GPU here shows that the kernel itself is right",
                       result.mismatches.source());
    }
    return finding("burn.wrong", Verdict::fail, gpu.bdf, expected, observed, result.mismatches.source());
}

/// Errors by which a driver says that the hardware failed, by their vendors' names.
bool is_hardware_fault(std::string_view error) {
    constexpr std::array<std::string_view, 4> kFaults{
        "CUDA_ERROR_ECC_UNCORRECTABLE", "hipErrorECCNotCorrectable", "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        "CUDA_ERROR_HARDWARE_STACK_ERROR"};
    return std::find(kFaults.begin(), kFaults.end(), error) != kFaults.end();
}

/// `of_a_pair`: an error of a copy between two GPUs, which tells of neither that it is the broken one; what
/// each does alone does.
Finding not_run(const Device& gpu, const std::string& what, const std::string& why, const std::string& source,
                bool of_a_pair = false) {
    const std::string observed = (what.empty() ? "" : what + ": ") + why;
    const std::string expected = "every experiment runs to its end";
    if (is_hardware_fault(why) && !of_a_pair)
        return finding("burn.fault", Verdict::fail, gpu.bdf, expected, observed, source);
    const bool absent = why.find("image absent") != std::string::npos;
    return finding(absent ? "burn.image.absent" : "burn.not_run", Verdict::unknown, gpu.bdf, expected,
                   observed, source);
}

/// "10 of 20 values compared"; empty when all that should have been looked at was.
std::string gap(const ExperimentResult& result) {
    const auto part = [](const Fact<std::uint64_t>& done, const Fact<std::uint64_t>& all, const char* what) {
        if (!done.known() || !all.known() || *done == *all) return std::string();
        return std::to_string(*done) + " of " + std::to_string(*all) + " " + what;
    };
    if (!result.values_checked.known() || !result.values_expected.known())
        return "no count of what was compared";
    if (std::string text = part(result.values_checked, result.values_expected, "values compared");
        !text.empty())
        return text;
    if (std::string text = part(result.units_tested, result.units_total, "compute units worked");
        !text.empty())
        return text;
    // A driver keeps some memory to itself: a tenth and more is no longer that.
    const bool all_memory = result.experiment == "memory_pattern";
    if (all_memory && result.bytes_tested.known() && result.bytes_total.known() &&
        *result.bytes_tested < *result.bytes_total / 10 * 8)
        return part(result.bytes_tested, result.bytes_total, "bytes of memory tested");
    return "";
}

std::string rates(const ExperimentResult& result) {
    std::string text;
    for (const Quantity& quantity : result.quantities) {
        char number[32];
        std::snprintf(number, sizeof number, "%.4g", quantity.median);
        text += (text.empty() ? "" : ", ") + std::string(number) + " " + quantity.unit;
    }
    return text.empty() || !result.timed.is(true) ? "right" : "right, " + text;
}

void judge_result(const Snapshot& snapshot, const Device& gpu, const ExperimentResult& result,
                  Findings& findings) {
    // What was wrong before it ended counts, however it ended.
    const bool found = result.mismatches.known() && *result.mismatches != 0;
    if (found) findings.push_back(wrong(snapshot, gpu, result));
    const std::string name = name_of_experiment(result);
    if (!result.ran.is(true)) {
        findings.push_back(not_run(gpu, name, result.ran.known() ? "did not run" : result.ran.why(),
                                   result.ran.source(), !result.peer.empty()));
        return;
    }
    if (found) return;
    if (const std::string text = gap(result); !text.empty()) {
        findings.push_back(finding("burn.incomplete", Verdict::unknown, gpu.bdf, "everything is looked at",
                                   name + ": " + text, result.ran.source()));
        return;
    }
    findings.push_back(finding(kId, Verdict::pass, gpu.bdf, "every value as computed on the host",
                               name + ": " + rates(result), result.ran.source()));
}

/// A whole GPU of which the driver offers a part: the rest was neither tested nor can be used. AMD's units
/// are in KFD's files, and the check gpu.units has them.
void judge_units(const Device& gpu, Findings& findings) {
    const Fact<std::uint64_t>& units = gpu.burn_in.units;
    if (gpu.vendor == Vendor::amd || may_be_split(gpu) || !units.known()) return;
    if (!gpu.board.known() || !gpu.board->compute_units.known()) return;
    if (*units >= *gpu.board->compute_units) return;
    findings.push_back(finding(
        "burn.units.short", Verdict::warn, gpu.bdf,
        count_of(*gpu.board->compute_units, "compute unit") + " (" + gpu.board->compute_units.source() + ")",
        std::to_string(*units), units.source()));
}

/// A fault was put in and every value was right: it had no place in what ran, or it was not seen. A proof
/// that proves nothing must not end as a pass.
void judge_injection(const Device& gpu, const std::vector<ExperimentResult>& results, Findings& findings) {
    const ExperimentResult* asked = nullptr;
    for (const ExperimentResult& result : results) {
        const bool wrong = (result.mismatches.known() && *result.mismatches > 0) || !result.records.empty();
        const bool left_out = result.values_checked.known() && result.values_expected.known() &&
                              *result.values_checked < *result.values_expected;
        if (wrong || left_out) return;
        if (result.injected.known() && result.ran.is(true)) asked = &result;
    }
    if (asked == nullptr) return;
    findings.push_back(finding("burn.inject.unseen", Verdict::unknown, gpu.bdf,
                               "the fault that was put in is found",
                               *asked->injected + ": every value was right", asked->injected.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    for (const Device& gpu : snapshot.gpus) {
        judge_units(gpu, findings);
        const auto& results = gpu.burn_in.results;
        if (!results.known()) {
            findings.push_back(not_run(gpu, "", results.why(), results.source()));
        } else if (results->empty()) {
            findings.push_back(not_run(gpu, "", "no experiment told a result", results.source()));
        } else {
            for (const ExperimentResult& result : *results) judge_result(snapshot, gpu, result, findings);
            judge_injection(gpu, *results, findings);
        }
    }
}

}  // namespace

const Check kBurnInCheck{.id = kId,
                         .title = "Results of experiments on the GPUs",
                         .impact = Impact::passive,
                         .required_from = Profile::quick,
                         .applies = applies,
                         .judge = judge};

}  // namespace gpucheck
