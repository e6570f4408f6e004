// Runs the product's kernels on a fake GPU, with matrix units and memory cells that may be broken.
#include <cstring>

#include "kernels/host_kernels.h"
#include "tests/fake/fake_gpu.h"
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

/// Kernels that stream memory: which argument is the number of 16-byte pairs, and how often each is moved.
struct Streaming {
    const char* kernel;
    unsigned pairs_argument;
    double times;
};
constexpr Streaming kStreaming[] = {{"stream_write", 1, 1}, {"stream_copy", 2, 2},   {"stream_triad", 3, 3},
                                    {"stream_read", 1, 1},  {"stream_verify", 1, 1}, {"pattern_fill", 1, 1},
                                    {"pattern_check", 1, 1}};

double bytes_of(const std::string& kernel, void** arguments) {
    for (const Streaming& each : kStreaming) {
        if (kernel != each.kernel) continue;
        return static_cast<double>(*static_cast<std::uint64_t*>(arguments[each.pairs_argument])) * 16 *
               each.times;
    }
    return 0;
}

}  // namespace

bool has_kernel(const FakeGpu& gpu, const std::string& name) {
    return find(gpu, name) != nullptr;
}

int run_kernel(FakeGpu& gpu, Stream& stream, const std::string& name, unsigned blocks, unsigned threads,
               void** arguments) {
    const kernels::HostKernel* kernel = find(gpu, name);
    if (kernel == nullptr) return kNotFound;
    if (gpu.skips(name)) return 0;
    std::array<std::uint64_t, kernels::kMatrixTypes> operations{};
    kernels::HostMachine machine;
    machine.units = gpu.about().units;
    machine.operations = operations.data();
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
    gpu.clock().move(stream, Path::memory, bytes_of(name, arguments));
    gpu.clock().multiply(stream, operations);
    return stuck.empty() ? 0 : kLaunchFailed;
}

}  // namespace gpucheck::fake
