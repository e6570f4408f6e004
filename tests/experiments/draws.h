// Random places of one fake GPU, the same for each seed.
#pragma once

#include <cstdlib>
#include <random>
#include <utility>

#include "tests/experiments/fake_burn_in.h"

namespace gpucheck::test {

inline constexpr const char* kGpu = "0000:19:00.0";

inline unsigned seeds() {
    const char* count = std::getenv("GPUCHECK_FAULT_SEEDS");
    return count != nullptr ? static_cast<unsigned>(std::atoi(count)) : 200;
}

struct Draw {
    explicit Draw(unsigned seed) : engine(seed) {}
    std::uint64_t below(std::uint64_t bound) { return engine() % bound; }
    template <class T>
    T one_of(std::initializer_list<T> list) {
        return *(list.begin() + below(list.size()));
    }
    std::mt19937_64 engine;
};

inline Device burn(const ComputeScenario& scenario, const std::string& architecture,
                   const std::string& experiments, std::uint64_t seed) {
    scenario.write();
    Snapshot machine;
    machine.gpus.push_back(device_at(kGpu, architecture.starts_with("gfx") ? Vendor::amd : Vendor::nvidia));
    BurnInOptions options = small_burn_in(experiments);
    options.settings.seed = seed;
    run_burn_in(options, machine);
    return machine.gpus[0];
}

}  // namespace gpucheck::test
