// Bench of a full cost table: 16 models x 3 points x 8 boards. usage: bench_cost [RUNS]; fails above 50 ms.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "checks/cost/data/tables.h"

int main(int argc, char** argv) {
    using namespace gpucheck::cost;
    const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 21;
    auto loaded = Tables::load();
    if (!std::holds_alternative<Tables>(loaded)) return 1;
    Tables& tables = std::get<Tables>(loaded);
    std::vector<double> times;
    std::size_t estimated = 0;
    for (int run = 0; run <= runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        estimated = 0;
        for (std::size_t board = 0; board < std::min<std::size_t>(8, tables.rates.size()); ++board) {
            MeasuredMachine& machine = tables.rates[board].machine;
            machine.gpus = 8;
            for (const LlmModel& model : tables.models) {
                QuoteRequest request;
                request.model = &model;
                request.machine = &machine;
                request.today = "2026-11-30";
                request.price.usd_gpu_hour = 2;
                request.load.weights = machine.has_fp8 == true ? Precision::fp8 : Precision::fp16;
                request.load.kv = request.load.weights;
                request.load.group = smallest_group(model, machine, request.load).value_or(8);
                for (const Point point : {Point::single_user, Point::interactive, Point::maximum}) {
                    request.point = point;
                    estimated += quote(request).estimate ? 1U : 0U;
                }
            }
        }
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        if (run > 0) times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    std::printf("%zu models x 3 points x 8 boards, %zu estimated: %.2f ms\n", tables.models.size(), estimated,
                median);
    return median <= 50 ? 0 : 1;
}
