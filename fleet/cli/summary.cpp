// `gpucheck fleet summary`: reports in, one decision out.
#include <optional>
#include <string>

#include "agent/report/exit_status.h"
#include "fleet/cli/commands.h"
#include "fleet/cli/output.h"
#include "fleet/model/policy.h"
#include "fleet/show/show.h"

namespace gpucheck::fleet {
namespace {

constexpr int kAccepted = 0, kRejected = 1, kNotEnough = 2;

int status_of(Decision decision) {
    if (decision == Decision::accept) return kAccepted;
    return decision == Decision::reject ? kRejected : kNotEnough;
}

}  // namespace

int summary(const SummaryOptions& options) {
    Fleet fleet;
    if (const auto error = read_paths(fleet, options.paths, options.judge.read)) {
        complain(*error);
        return kUsage;
    }
    const Policy policy = default_policy();
    const Analysis analysis = analyse(fleet, policy, nullptr);
    ShowOptions show;
    show.colour = options.output.empty() && colours();
    show.top = options.top;
    show.policy = policy.name;
    const int written = deliver(options.output, [&](const Sink& sink) {
        if (options.format == "json") return summary_json(fleet, analysis, show, sink);
        if (options.format == "jsonl") return summary_jsonl(fleet, analysis, sink);
        sink(summary_text(fleet, analysis, show));
    });
    return written != 0 ? written : status_of(analysis.decision);
}

}  // namespace gpucheck::fleet
