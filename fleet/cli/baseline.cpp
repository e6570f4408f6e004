// `gpucheck fleet baseline`: what is normal today, for fleets that are too small to know it themselves.
#include "agent/report/words.h"
#include "fleet/analysis/files.h"
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
    const Baseline learned = learn(fleet, std::get<Judgement>(loaded).policy);
    // A file without a row would make every later fleet one that nobody can judge.
    if (learned.rows.empty()) {
        complain("no measurement of enough GPUs of one kind: there is nothing to call normal");
        return kNotEnough;
    }
    const int written = deliver(options.output, [&](const Sink& sink) { sink(write_baseline(learned)); });
    // It is what is normal of the rest, and whoever asked for all of them has to know.
    return written == 0 && !fleet.rejected.empty() ? kNotEnough : written;
}

}  // namespace gpucheck::fleet
