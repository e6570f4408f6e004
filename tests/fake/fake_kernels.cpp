// Runs the product's kernels on a fake GPU, with matrix units and memory cells that may be broken.
#include <cstring>

#include "kernels/host_kernels.h"
#include "tests/fake/device_memory.h"
#include "tests/fake/target.h"

namespace gpucheck::fake {
namespace {

using kernels::HostProduct;
using kernels::MatrixType;

bool is_spoiling(const Fault& fault, const std::string& kernel) {
    return (fault.kind == "lane" || fault.kind == "flip_lane" || fault.kind == "nan") &&
           (fault.kernel.empty() || fault.kernel == kernel);
}

void spoil(const Fault& fault, HostProduct& product) {
    if (fault.unit && *fault.unit != product.unit) return;
    if (fault.lane && *fault.lane != product.lane) return;
    if (fault.element && *fault.element != product.element) return;
    if (!strikes(fault)) return;
    const bool wide = product.type == static_cast<std::uint32_t>(MatrixType::f64);
    const std::uint64_t mask = std::uint64_t{1} << (fault.bit % (wide ? 64 : 32));
    if (fault.kind == "nan") {
        product.bits = wide ? 0x7FF8000000000000U : 0x7FC00000U;
    } else if (fault.kind == "flip_lane") {
        product.bits ^= mask;
    } else {
        product.bits = fault.value ? product.bits | mask : product.bits & ~mask;
    }
}

const kernels::HostKernel* find(const FakeGpu& gpu, const std::string& name) {
    return kernels::find_host_kernel(target_of(gpu.about().architecture), name);
}

}  // namespace

bool has_kernel(const FakeGpu& gpu, const std::string& name) {
    return find(gpu, name) != nullptr;
}

int run_kernel(FakeGpu& gpu, const std::string& name, unsigned blocks, unsigned threads, void** arguments) {
    const kernels::HostKernel* kernel = find(gpu, name);
    if (kernel == nullptr) return kNotFound;
    if (gpu.skips(name)) return 0;
    kernels::HostMachine machine;
    machine.units = gpu.about().units;
    for (const Fault& fault : gpu.faults()) {
        if (!is_spoiling(fault, name)) continue;
        machine.spoil_product = [&](HostProduct& product) {
            for (const Fault& each : gpu.faults()) {
                if (is_spoiling(each, name)) spoil(each, product);
            }
        };
        break;
    }
    const std::string stuck = kernels::host_launch(*kernel, blocks, threads, arguments, machine);
    gpu.settle();
    return stuck.empty() ? 0 : kLaunchFailed;
}

int launch(Function* function, unsigned blocks, unsigned threads, void** arguments, const char* name) {
    if (function == nullptr) return kInvalidHandle;
    if (const int error = function->gpu->enter(name, function->name)) return error;
    return run_kernel(*function->gpu, function->name, blocks, threads, arguments);
}

int copy(FakeGpu& gpu, void* to, const void* from, std::uint64_t bytes, bool to_device, bool from_device,
         const char* name) {
    if (const int error = gpu.enter(name)) return error;
    if (to_device && !gpu.owns(to, bytes)) return kIllegalAddress;
    if (from_device && !gpu.owns(from, bytes)) return kIllegalAddress;
    std::memmove(to, from, bytes);
    gpu.settle();
    return 0;
}

int fill_words(FakeGpu& gpu, void* to, std::uint32_t word, std::uint64_t words, const char* name) {
    if (const int error = gpu.enter(name)) return error;
    if (!gpu.owns(to, words * 4)) return kIllegalAddress;
    auto* out = static_cast<std::uint32_t*>(to);
    for (std::uint64_t i = 0; i < words; ++i) out[i] = word;
    gpu.settle();
    return 0;
}

}  // namespace gpucheck::fake
