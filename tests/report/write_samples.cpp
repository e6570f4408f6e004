// Writes every sample in every format into a folder, for the validators that are no C++.
#include <cstdio>

#include "agent/report/explain.h"
#include "agent/report/output_file.h"
#include "agent/report/render.h"
#include "tests/report/samples.h"

int main(int argc, char** argv) {
    using namespace gpucheck::report;
    if (argc != 2) return 64;
    const std::string folder = argv[1];
    for (const auto& [name, report] : all_samples()) {
        for (const Format format :
             {Format::text, Format::json, Format::junit, Format::prometheus, Format::nagios, Format::html}) {
            const std::string path = folder + "/" + name + "." + std::string(name_of(format));
            if (const auto error = atomic_write(path, render(report, format))) {
                std::fprintf(stderr, "%s\n", error->c_str());
                return 1;
            }
        }
    }
    return 0;
}
