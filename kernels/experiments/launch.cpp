// Finds a GPU whose launches take long or leave threads out.
#include "kernels/experiments/experiments.h"

namespace gpucheck::experiments {
namespace {

using gpu::Done;

Done latencies(Bench& bench, gpu::Kernel empty, std::vector<double>& us) {
    for (unsigned i = 0; i <= bench.settings().launch_reps && !bench.late(); ++i) {
        const Clock::time_point start = Clock::now();
        if (Done error = bench.launch(empty, gpu::Shape{1, 64, 0})) return error;
        if (Done error = bench.wait()) return error;
        if (i > 0) us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    return std::nullopt;
}

ExperimentResult measure(Bench& bench) {
    ExperimentResult result =
        begin_result(bench, Kind::launch, "", "reps=" + std::to_string(bench.settings().launch_reps));
    gpu::Kernel empty, mark;
    if (const Done error = bench.find("launch", "launch_empty", empty)) return failed(result, *error);
    if (const Done error = bench.find("launch", "launch_mark", mark)) return failed(result, *error);
    std::vector<double> us;
    if (const Done error = latencies(bench, empty, us)) return failed(result, *error);
    if (us.empty()) return out_of_time(result);
    result.quantities.push_back(quantity("launch and wait", "us", std::move(us)));

    const gpu::Shape all = bench.memory_shape();
    const bool skip = bench.settings().inject.kind == Injection::Kind::skip;
    UnitCoverage units;  // not stated: so short a launch need not reach every unit
    std::uint64_t wrong = 0;
    const Done error =
        bench.check([&]() -> Done { return skip ? std::nullopt : bench.launch(mark, all, bench.result()); },
                    result, wrong, units);
    if (error) return failed(result, *error);
    result.values_expected =
        Fact<std::uint64_t>(std::uint64_t{all.blocks} * all.threads, "threads of the launch");
    result.ran = Fact<bool>(true, "launch_empty, launch_mark");
    return result;
}

}  // namespace

void run_launch(Bench& bench, const Sink& sink) {
    sink(measure(bench));
}

}  // namespace gpucheck::experiments
