// Runs a kernel on the processor, every thread of every block, so that what is shipped for a GPU can be
// tested without one. Deterministic: blocks run one after the other, the threads of a block as fibers in a
// fixed order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace gpucheck::kernels {

/// One result of the emulated matrix unit, before the kernel sees it.
struct HostProduct {
    std::uint32_t type, unit, block, lane, element;
    std::uint64_t bits;
};

/// The emulated GPU. Block b runs on unit b % units.
struct HostMachine {
    std::uint32_t units = 2;
    std::function<void(HostProduct&)> spoil_product;  // a fault of the matrix unit; may be empty
    std::uint64_t* operations = nullptr;  // counts what the matrix units did, by data type; may be null
};

struct HostThread {
    std::uint32_t thread = 0, block = 0, block_size = 1, grid_size = 1, unit = 0;
    const HostMachine* machine = nullptr;
};

/// The thread that runs now; only inside host_launch.
const HostThread& host_thread();

/// Waits for all threads of the block that have not ended.
void host_block_barrier();
/// Waits for the lanes of this thread's wave.
void host_wave_barrier(std::uint32_t wave_size);

struct HostKernel {
    const char* name;
    bool barriers;                   // false: threads run one after the other without fibers
    void (*call)(void** arguments);  // pointers to the arguments, as the driver interfaces take them
};

constexpr std::uint32_t kHostMaxThreads = 1024;

/// Empty when all threads ended; otherwise why the launch was refused or got stuck (a barrier that some never
/// reach).
std::string host_launch(const HostKernel& kernel, std::uint32_t grid, std::uint32_t block, void** arguments,
                        const HostMachine& machine);

}  // namespace gpucheck::kernels
