// Launches kernels of the host build in tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "kernels/host_kernels.h"
#include "kernels/results.h"

namespace gpucheck::kernels {

inline std::unique_ptr<CheckResult> fresh_result() {
    auto result = std::make_unique<CheckResult>();
    result->first_index = ~0ull;
    return result;
}

template <class... Arguments>
void launch_on(const HostMachine& machine, Target target, const char* name, u32 grid, u32 block,
               Arguments... arguments) {
    const HostKernel* kernel = find_host_kernel(target, name);
    ASSERT_NE(kernel, nullptr) << name;
    void* pointers[] = {&arguments..., nullptr};
    ASSERT_EQ(host_launch(*kernel, grid, block, pointers, machine), "");
}

template <class... Arguments>
void launch(const char* name, u32 grid, u32 block, Arguments... arguments) {
    launch_on(HostMachine{}, Target::none, name, grid, block, arguments...);
}

}  // namespace gpucheck::kernels
