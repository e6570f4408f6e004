// Policy and baseline files; see judgement.h.
#include "fleet/cli/judgement.h"

#include <utility>

#include "agent/report/report_id.h"
#include "fleet/analysis/files.h"
#include "fleet/cli/expected.h"
#include "fleet/cli/output.h"
#include "providers/disk/files.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kFileBytes = std::size_t{64} << 20U;

template <class T>
using Read = std::variant<T, std::string> (*)(std::string_view, const std::string&);

template <class T>
std::variant<T, std::string> from_file(const std::string& path, Read<T> read) {
    const auto content = disk::read_file(path, kFileBytes);
    if (const auto* error = std::get_if<disk::Error>(&content)) return error->what;
    return read(std::get<disk::Content>(content).text, path);
}

}  // namespace

std::variant<Judgement, std::string> judgement(const JudgeOptions& options) {
    Judgement result{default_policy(), std::nullopt};
    if (!options.policy_file.empty()) {
        auto policy = from_file<Policy>(options.policy_file, read_policy);
        if (auto* error = std::get_if<std::string>(&policy)) return std::move(*error);
        result.policy = std::get<Policy>(std::move(policy));
    }
    if (!options.baseline_file.empty()) {
        auto baseline = from_file<Baseline>(options.baseline_file, read_baseline);
        if (auto* error = std::get_if<std::string>(&baseline)) return std::move(*error);
        result.baseline = std::get<Baseline>(std::move(baseline));
    }
    // Without keys no signature is checked, and what a condensed report says of itself anybody can write.
    if (!result.policy.accept_unverified && options.read.keys_folder.empty() && !options.knows_other_keys)
        return options.policy_file + " accepts signed reports alone: name the keys you trust with --keys";
    const auto now_s = report::unix_seconds(options.now.empty() ? report::rfc3339_now() : options.now);
    if (!now_s) return "--now " + options.now + " is not a time such as 2026-11-30T10:00:00Z";
    result.policy.now = report::rfc3339_utc(*now_s);
    return result;
}

int Decided::status() const {
    if (analysis.decision == Decision::accept) return kAccepted;
    return analysis.decision == Decision::reject ? kRejected : kNotEnough;
}

int decide(const JudgeOptions& options, const std::vector<std::string>& paths, Decided& decided) {
    auto loaded = judgement(options);
    if (const auto* error = std::get_if<std::string>(&loaded)) {
        complain(*error);
        return kUsage;
    }
    decided.judge = std::get<Judgement>(std::move(loaded));
    if (const auto error = read_paths(decided.fleet, paths, options.read)) {
        complain(*error);
        return kUsage;
    }
    if (const auto error = note_missing(decided.fleet, decided.judge.policy, options.expected_file)) {
        complain(*error);
        return kUsage;
    }
    for (const std::string& remark : decided.fleet.remarks) complain(remark);
    const Judgement& judge = decided.judge;
    decided.analysis = analyse(decided.fleet, judge.policy, judge.baseline ? &*judge.baseline : nullptr);
    return 0;
}

}  // namespace gpucheck::fleet
