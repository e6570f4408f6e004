// `gpucheck fleet summary`: reports in, one decision out.
#include <optional>
#include <string>

#include "fleet/cli/commands.h"
#include "fleet/cli/judgement.h"
#include "fleet/cli/output.h"
#include "fleet/show/show.h"

namespace gpucheck::fleet {
namespace {

int status_of(Decision decision) {
    if (decision == Decision::accept) return kAccepted;
    return decision == Decision::reject ? kRejected : kNotEnough;
}

}  // namespace

int summary(const SummaryOptions& options) {
    const auto loaded = judgement(options.judge);
    if (const auto* error = std::get_if<std::string>(&loaded)) {
        complain(*error);
        return kUsage;
    }
    const Judgement& judge = std::get<Judgement>(loaded);
    Fleet fleet;
    if (const auto error = read_paths(fleet, options.paths, options.judge.read)) {
        complain(*error);
        return kUsage;
    }
    const Analysis analysis = analyse(fleet, judge.policy, judge.baseline ? &*judge.baseline : nullptr);
    ShowOptions show;
    show.colour = options.output.empty() && colours();
    show.top = options.top;
    show.policy = judge.policy.name;
    if (judge.baseline) show.baseline = judge.baseline->created;
    const int written = deliver(options.output, [&](const Sink& sink) {
        if (options.format == "json") return summary_json(fleet, analysis, show, sink);
        if (options.format == "jsonl") return summary_jsonl(fleet, analysis, sink);
        sink(summary_text(fleet, analysis, show));
    });
    return written != 0 ? written : status_of(analysis.decision);
}

}  // namespace gpucheck::fleet
