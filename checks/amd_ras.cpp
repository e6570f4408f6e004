// Finds AMD GPUs whose error counters moved: a block that gave wrong data has already spoiled results, and
// nothing but these counts tells.
#include "checks/all.h"
#include "checks/amd_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "ras.errors";

using Kind = Fact<std::uint64_t> RasBlock::*;

/// How many errors of a kind this boot saw in a block. MI200 sets its counts to zero when they are read, so
/// there both readings add up; elsewhere the newer one holds all (Linux Documentation/gpu/amdgpu/ras.rst).
std::uint64_t total(const Device& gpu, const RasBlock& first, const RasBlock* last, Kind kind) {
    const std::uint64_t before = (first.*kind).known() ? *(first.*kind) : 0;
    if (last == nullptr || !(last->*kind).known()) return before;
    return counts_reset_on_read(gpu) ? before + *(last->*kind) : *(last->*kind);
}

struct Tally {
    std::string blocks;  ///< "umc 2, gfx 1"
    std::uint64_t count = 0;
    std::string source;
};

struct Counts {
    const std::vector<RasBlock>* first = nullptr;
    const std::vector<RasBlock>* last = nullptr;

    const RasBlock* again(const std::string& name) const {
        if (last == nullptr) return nullptr;
        for (const RasBlock& block : *last) {
            if (block.name == name) return &block;
        }
        return nullptr;
    }
};

Tally tally(const Device& gpu, const Counts& counts, Kind kind) {
    Tally result;
    for (const RasBlock& block : *counts.first) {
        const std::uint64_t number = total(gpu, block, counts.again(block.name), kind);
        if (number == 0) continue;
        result.blocks += (result.blocks.empty() ? "" : ", ") + block.name + " " + std::to_string(number);
        result.count += number;
        if (result.source.empty()) result.source = (block.*kind).source();
    }
    return result;
}

/// Blocks that do not tell ("Query currently inaccessible"). A kernel that does not print "de" has no
/// deferred count: that is an answer.
std::string silent(const std::vector<RasBlock>& blocks, std::string& why) {
    std::string names;
    for (const RasBlock& block : blocks) {
        const Fact<std::uint64_t>* missing = nullptr;
        if (!block.deferred.known() && !block.deferred.absent()) missing = &block.deferred;
        if (!block.correctable.known()) missing = &block.correctable;
        if (!block.uncorrectable.known()) missing = &block.uncorrectable;
        if (missing == nullptr) continue;
        names += (names.empty() ? "" : ", ") + block.name;
        if (why.empty()) why = missing->why();
    }
    return names;
}

void judge_gpu(const Snapshot& snapshot, const Device& gpu, Findings& findings) {
    const std::string expected = "no errors counted in any RAS block";
    const Fact<std::vector<RasBlock>>& ras = gpu.telemetry.first.amd.ras;
    if (!ras.known()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, ras.missing()));
        return;
    }
    if (ras->empty()) {
        findings.push_back(amd_gap(kId, snapshot, gpu, expected, Missing{ras.source(), "ENOENT"}));
        return;
    }
    const std::size_t before = findings.size();
    const Fact<std::vector<RasBlock>>& last = gpu.telemetry.last.amd.ras;
    const Counts counts{&*ras, last.known() ? &*last : nullptr};
    const std::string since =
        counts_reset_on_read(gpu) ? " since they were last read" : " since the driver started";
    const auto say = [&](std::string_view code, Verdict verdict, Kind kind) {
        const Tally errors = tally(gpu, counts, kind);
        if (errors.count == 0) return;
        findings.push_back(finding(code, verdict, gpu.bdf, expected, errors.blocks + since, errors.source));
        findings.back().count = errors.count;
    };
    say("ras.uncorrectable", Verdict::fail, &RasBlock::uncorrectable);
    say("ras.deferred", Verdict::fail, &RasBlock::deferred);
    say("ras.correctable", Verdict::warn, &RasBlock::correctable);
    std::string why;
    if (const std::string names = silent(*ras, why); !names.empty()) {
        findings.push_back(unread_fact(gpu.bdf, expected, Missing{ras.source(), names + ": " + why}));
    }
    if (findings.size() == before) {
        findings.push_back(finding(kId, Verdict::pass, gpu.bdf, expected,
                                   "0 in " + count_of(ras->size(), "block") + since, ras.source()));
    }
}

void judge(const Snapshot& snapshot, Findings& findings) {
    judge_each_amd(snapshot, findings, judge_gpu);
}

}  // namespace

const Check kAmdRasCheck{.id = kId,
                         .title = "RAS error counts of AMD GPUs",
                         .impact = Impact::passive,
                         .required_from = Profile::boot,
                         .applies = without_usable_amd,
                         .judge = judge};

}  // namespace gpucheck
