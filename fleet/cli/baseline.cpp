// `gpucheck fleet baseline`: what is normal today, for fleets that are too small to know it themselves.
#include "agent/report/words.h"
#include "fleet/analysis/files.h"
#include "fleet/analysis/learning.h"
#include "fleet/cli/commands.h"
#include "fleet/cli/judgement.h"
#include "fleet/cli/output.h"

namespace gpucheck::fleet {

int baseline(const BaselineOptions& options) {
    const auto loaded = judgement(options.judge);
    if (const auto* error = std::get_if<std::string>(&loaded)) {
        complain(*error);
        return kUsage;
    }
    Fleet fleet;
    if (const auto error = read_paths(fleet, options.paths, options.judge.read)) {
        complain(*error);
        return kUsage;
    }
    for (const std::string& remark : fleet.remarks) complain(remark);
    if (!fleet.rejected.empty()) {
        const Rejected& first = fleet.rejected.front();
        complain(report::plural(fleet.rejected.size(), "input") + " not read, the first: " + first.where +
                 ": " + first.why);
    }
    const Learned found = learn_from(fleet, std::get<Judgement>(loaded).policy);
    const Baseline& learned = found.baseline;
    if (!found.left_out.empty())
        complain(report::plural(found.left_out.size(), "node") +
                 " left out, being no example of what is normal; " + found.left_out.front());
    // A file without a row would make every later fleet one that nobody can judge.
    if (learned.rows.empty()) {
        complain("no measurement of enough GPUs of one kind: there is nothing to call normal");
        return kNotEnough;
    }
    const int written = deliver(options.output, [&](const Sink& sink) { sink(write_baseline(learned)); });
    if (!found.unlearnt.empty())
        complain(
            report::plural(found.unlearnt.size(), "measurement") +
            " not learned, because three healthy nodes and min_group GPUs with a bar that judges are needed; "
            "the first: " +
            found.unlearnt.front());
    // It is what is normal of the rest, and whoever asked for all of them has to know.
    const bool whole = fleet.rejected.empty() && found.unlearnt.empty();
    return written == 0 && !whole ? kNotEnough : written;
}

}  // namespace gpucheck::fleet
