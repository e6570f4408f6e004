// `gpucheck fleet summary`: reports in, one decision out.
#include "fleet/cli/commands.h"
#include "fleet/cli/judgement.h"
#include "fleet/cli/output.h"
#include "fleet/show/show.h"

namespace gpucheck::fleet {

int summary(const SummaryOptions& options) {
    Decided decided;
    if (const int wrong = decide(options.judge, options.paths, decided); wrong != 0) return wrong;
    const Fleet& fleet = decided.fleet;
    const Analysis& analysis = decided.analysis;
    ShowOptions show;
    show.colour = options.output.empty() && colours();
    show.top = options.top;
    show.policy = decided.judge.policy.name;
    show.baseline = decided.baseline();
    const int written = deliver(options.output, [&](const Sink& sink) {
        if (options.format == "json") return summary_json(fleet, analysis, show, sink);
        if (options.format == "jsonl") return summary_jsonl(fleet, analysis, sink);
        sink(summary_text(fleet, analysis, show));
    });
    return written != 0 ? written : decided.status();
}

}  // namespace gpucheck::fleet
