// `gpucheck fleet compare`: what an upgrade or a month did to a fleet, beyond chance.
#include "fleet/cli/commands.h"
#include "fleet/cli/judgement.h"
#include "fleet/cli/output.h"
#include "fleet/show/show.h"

namespace gpucheck::fleet {
namespace {

// What was not read cannot have become worse: it is said.
void note_rejected(Comparison& comparison, const Fleet& fleet, const std::string& which) {
    for (const Rejected& row : fleet.rejected)
        comparison.notes.push_back("not read of " + which + ": " + row.where + ": " + row.why);
}

int status_of(const Comparison& comparison) {
    if (comparison.decision == Decision::accept) return kAccepted;
    return comparison.decision == Decision::reject ? kRejected : kNotEnough;
}

}  // namespace

int compare(const CompareOptions& options) {
    const auto loaded = judgement(options.judge);
    if (const auto* error = std::get_if<std::string>(&loaded)) {
        complain(*error);
        return kUsage;
    }
    if (options.before == "-" && options.after == "-") {
        complain("both OLD and NEW are standard input");
        return kUsage;
    }
    Fleet before, after;
    for (const auto& [fleet, path] :
         {std::pair(&before, &options.before), std::pair(&after, &options.after)}) {
        if (const auto error = read_paths(*fleet, {*path}, options.judge.read)) {
            complain(*error);
            return kUsage;
        }
    }
    for (const Fleet* fleet : {&before, &after}) {
        for (const std::string& remark : fleet->remarks) complain(remark);
    }
    Comparison comparison = compare(before, after, std::get<Judgement>(loaded).policy);
    note_rejected(comparison, before, "OLD");
    note_rejected(comparison, after, "NEW");
    ShowOptions show;
    show.colour = options.output.empty() && colours();
    show.top = options.top;
    const int written = deliver(options.output, [&](const Sink& sink) {
        if (options.format == "json") return comparison_json(comparison, sink);
        sink(comparison_text(comparison, show));
    });
    return written != 0 ? written : status_of(comparison);
}

}  // namespace gpucheck::fleet
