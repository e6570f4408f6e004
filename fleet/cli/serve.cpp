// `gpucheck fleet serve`: the receiver, with the policy and the baseline that its page decides by.
#include <utility>

#include "fleet/cli/commands.h"
#include "fleet/cli/judgement.h"
#include "fleet/cli/output.h"

namespace gpucheck::fleet {

int serve(const ServeCommand& options) {
    JudgeOptions judge = options.judge;
    judge.knows_other_keys = true;
    auto loaded = judgement(judge);
    if (const auto* error = std::get_if<std::string>(&loaded)) {
        complain(*error);
        return kUsage;
    }
    ServeOptions serving = options.serve;
    serving.max_body_bytes = options.max_body_mib << 20U;
    serving.policy = std::get<Judgement>(loaded).policy;
    serving.policy.now.clear();  // each view has its own
    serving.baseline = std::move(std::get<Judgement>(loaded).baseline);
    return serve(serving);
}

}  // namespace gpucheck::fleet
