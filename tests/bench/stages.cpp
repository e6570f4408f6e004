// Bench of what a run does beside reading files: loading the board table, and each rendering as a ratio of
// that. usage: bench_stages [RUNS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "agent/report/render.h"
#include "checks/specs/boards.h"
#include "tests/report/samples.h"

namespace {

using namespace gpucheck;

/// Median milliseconds of `runs` calls, the first one dropped.
double median_ms(int runs, const std::function<bool()>& call) {
    std::vector<double> times;
    for (int i = 0; i <= runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        if (!call()) std::exit(1);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        if (i > 0) times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    using report::Format;
    const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 51;
    const double load =
        median_ms(runs, [] { return std::holds_alternative<BoardTable>(BoardTable::load()); });
    std::printf("%-24s %8.3f ms\n", "load the board table", load);
    const report::Report report = report::failing();
    for (const Format format :
         {Format::text, Format::json, Format::junit, Format::prometheus, Format::nagios, Format::html}) {
        const double took = median_ms(runs, [&] { return !report::render(report, format).empty(); });
        std::printf("render %-17s %8.3f ms  %5.2f x loading the table\n",
                    std::string(report::name_of(format)).c_str(), took, took / load);
    }
    return 0;
}
