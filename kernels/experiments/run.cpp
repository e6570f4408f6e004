// Runs the experiments of one GPU in turn, and the copies between GPUs.
#include "kernels/experiments/run.h"

#include <algorithm>
#include <array>
#include <memory>

namespace gpucheck::experiments {
namespace {

struct Step {
    Kind kind;
    unsigned weight;  ///< its share of the time that is left
    void (*run)(Bench&, const Sink&);
};

// What corrupts first: a wrong product or a lost bit costs more than a slow link. What is not proven on
// hardware comes last: should it hang or end the context, nothing else is lost.
constexpr std::array kSteps{Step{Kind::launch, 1, run_launch},
                            Step{Kind::matrix, 6, run_matrix},
                            Step{Kind::memory_pattern, 6, run_memory_pattern},
                            Step{Kind::memory_stream, 4, run_memory_stream},
                            Step{Kind::host_link, 4, run_host_link},
                            Step{Kind::gemm, 3, run_gemm},
                            Step{Kind::matrix_native, 3, run_matrix_native}};

void state_about(const gpu::Gpu& gpu, BurnIn& about) {
    const std::string source = "the driver's library";
    const gpu::Properties& properties = gpu.properties();
    if (!properties.architecture.empty())
        about.architecture = Fact<std::string>(properties.architecture, source);
    if (!properties.name.empty()) about.name = Fact<std::string>(properties.name, source);
    if (properties.units != 0) about.units = Fact<std::uint64_t>(properties.units, source);
    about.total_bytes = Fact<std::uint64_t>(properties.total_bytes, source);
}

/// One result each for what could not even begin.
void none_ran(const Bench& bench, const Missing& why, const Sink& sink) {
    for (const Step& step : kSteps) {
        // Which GPUs have more than the one path is known only when it runs.
        if (!bench.settings().runs(step.kind) || step.kind == Kind::matrix_native) continue;
        ExperimentResult result = begin_result(bench, step.kind, "", "");
        result.ran = why;
        sink(result);
    }
}

}  // namespace

std::vector<Kind> order() {
    std::vector<Kind> kinds;
    for (const Step& step : kSteps) kinds.push_back(step.kind);
    return kinds;
}

void run_all_of(gpu::Gpu& gpu, const Plan& plan, BurnIn& about, const Sink& sink) {
    state_about(gpu, about);
    Bench bench(gpu, plan.settings, plan.find_image);
    if (const gpu::Done error = bench.open()) {
        none_ran(bench, {error->call, error->error}, sink);
        return;
    }
    unsigned weights = 0;
    for (const Step& step : kSteps) weights += plan.settings.runs(step.kind) ? step.weight : 0;
    for (const Step& step : kSteps) {
        if (!plan.settings.runs(step.kind)) continue;
        const Clock::time_point now = Clock::now();
        const auto left = std::max(plan.deadline - now, Clock::duration::zero());
        bench.set_deadline(now + left * step.weight / weights);
        weights -= step.weight;
        if (plan.stage) plan.stage(name_of(step.kind));
        step.run(bench, sink);
        if (!bench.images().empty()) about.image = Fact<std::string>(bench.images(), "embedded kernels");
    }
}

void run_peers(const std::vector<NamedGpu>& gpus, bool all, const Plan& plan,
               const std::function<void(std::size_t, const ExperimentResult&)>& sink) {
    std::vector<std::unique_ptr<Bench>> benches;
    for (const NamedGpu& each : gpus) {
        auto bench = std::make_unique<Bench>(*each.gpu, plan.settings, plan.find_image);
        bench->set_deadline(plan.deadline);
        if (bench->open()) bench.reset();  // its own experiments say why
        benches.push_back(std::move(bench));
    }
    const std::size_t count = gpus.size();
    for (std::size_t distance = 1; distance < (all ? count : std::min<std::size_t>(count, 2)); ++distance) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t j = (i + distance) % count;
            if (benches[i] == nullptr || benches[j] == nullptr) continue;
            if (plan.stage) plan.stage(gpus[i].address + " to " + gpus[j].address);
            run_peer(*benches[i], *benches[j], gpus[j].address,
                     [&](const ExperimentResult& result) { sink(i, result); });
        }
    }
}

}  // namespace gpucheck::experiments
