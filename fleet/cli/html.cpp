// `gpucheck fleet html`: the decision as one page that needs no network.
#include "agent/report/report_id.h"
#include "fleet/cli/commands.h"
#include "fleet/cli/judgement.h"
#include "fleet/cli/output.h"
#include "fleet/page/page.h"

namespace gpucheck::fleet {

int html(const HtmlOptions& options) {
    Decided decided;
    if (const int wrong = decide(options.judge, options.paths, decided); wrong != 0) return wrong;
    PageOptions page_options;
    page_options.made = report::rfc3339_now();
    page_options.policy = decided.judge.policy.name;
    page_options.baseline = decided.baseline();
    const int written = deliver(
        options.output, [&](const Sink& sink) { sink(page(decided.fleet, decided.analysis, page_options)); });
    return written != 0 ? written : decided.status();
}

}  // namespace gpucheck::fleet
