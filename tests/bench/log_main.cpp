// The log command alone, for benchmarks and for reading logs before the whole program is built.
#include <cstring>
#include <iostream>

#include "agent/log_command.h"

int main(int argc, char** argv) {
    gpucheck::LogOptions options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--json") == 0)
            options.format = "json";
        else if (std::strcmp(argv[i], "--since-boot") == 0)
            options.since_boot = true;
        else if (std::strcmp(argv[i], "--gpu") == 0 && i + 1 < argc)
            options.gpu = argv[++i];
        else
            options.path = argv[i];
    }
    return gpucheck::run_log(options, std::cout, std::cerr);
}
