// Fibers for the threads of a block, on ucontext: they may wait for each other at barriers, and one system
// thread and a bounded amount of memory are enough.
#include "kernels/host_execution.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <memory>
#include <vector>

namespace gpucheck::kernels {
namespace {

constexpr std::size_t kStackBytes =
    std::size_t{256} * 1024;  // reserved; only what is used is backed by memory

enum class State : std::uint8_t { ready, at_block_barrier, at_wave_barrier, ended };

struct Fiber {
    ucontext_t context;
    State state;
    HostThread thread;
};

struct Unmap {
    std::size_t bytes;
    void operator()(char* p) const { munmap(p, bytes); }
};

/// The fibers of this system thread, kept between launches.
struct Fibers {
    std::vector<Fiber> all;
    std::unique_ptr<char, Unmap> stacks{nullptr, Unmap{0}};
    ucontext_t scheduler;
    const HostKernel* kernel = nullptr;
    void** arguments = nullptr;
    std::size_t current = 0;
    std::uint32_t wave_size = 0;

    bool reserve(std::size_t count) {
        if (all.size() >= count) return true;
        void* memory = mmap(nullptr, count * kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return false;
        stacks = std::unique_ptr<char, Unmap>(static_cast<char*>(memory), Unmap{count * kStackBytes});
        all.resize(count);
        return true;
    }
};

thread_local Fibers fibers;
thread_local HostThread running;

void run_fiber() {
    fibers.kernel->call(fibers.arguments);
    fibers.all[fibers.current].state = State::ended;
    swapcontext(&fibers.all[fibers.current].context, &fibers.scheduler);
}

void wait_as(State state) {
    Fiber& self = fibers.all[fibers.current];
    self.state = state;
    swapcontext(&self.context, &fibers.scheduler);
}

/// Lets go [first, last) if all that have not ended wait in this state.
bool release(std::size_t first, std::size_t last, State state) {
    bool any = false;
    for (std::size_t i = first; i < last; ++i) {
        if (fibers.all[i].state == State::ended) continue;
        if (fibers.all[i].state != state) return false;
        any = true;
    }
    if (!any) return false;
    for (std::size_t i = first; i < last; ++i) {
        if (fibers.all[i].state == state) fibers.all[i].state = State::ready;
    }
    return true;
}

bool release_all(std::size_t count) {
    bool any = release(0, count, State::at_block_barrier);
    if (fibers.wave_size == 0) return any;
    for (std::size_t first = 0; first < count; first += fibers.wave_size) {
        const std::size_t last = first + fibers.wave_size < count ? first + fibers.wave_size : count;
        any = release(first, last, State::at_wave_barrier) || any;
    }
    return any;
}

/// Runs what is ready until nothing is. Returns how many have ended.
std::size_t run_ready(std::size_t count) {
    std::size_t ended = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (fibers.all[i].state == State::ready) {
            fibers.current = i;
            running = fibers.all[i].thread;
            swapcontext(&fibers.scheduler, &fibers.all[i].context);
        }
        ended += fibers.all[i].state == State::ended ? 1 : 0;
    }
    return ended;
}

std::string run_block_of_fibers(HostThread base) {
    const std::size_t count = base.block_size;
    for (std::size_t i = 0; i < count; ++i) {
        Fiber& fiber = fibers.all[i];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fibers.stacks.get() + i * kStackBytes;
        fiber.context.uc_stack.ss_size = kStackBytes;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, run_fiber, 0);
        fiber.state = State::ready;
        base.thread = static_cast<std::uint32_t>(i);
        fiber.thread = base;
    }
    for (;;) {
        if (run_ready(count) == count) return {};
        if (!release_all(count)) return "threads of a block wait at different barriers";
    }
}

void run_block_in_turn(HostThread base) {
    for (running = base; running.thread < base.block_size; ++running.thread)
        fibers.kernel->call(fibers.arguments);
}

}  // namespace

const HostThread& host_thread() {
    return running;
}

void host_block_barrier() {
    wait_as(State::at_block_barrier);
}

void host_wave_barrier(std::uint32_t wave_size) {
    fibers.wave_size = wave_size;
    wait_as(State::at_wave_barrier);
}

std::string host_launch(const HostKernel& kernel, std::uint32_t grid, std::uint32_t block, void** arguments,
                        const HostMachine& machine) {
    if (grid == 0 || block == 0 || block > kHostMaxThreads) return "launch out of range";
    if (machine.units == 0) return "the machine has no compute units";
    if (kernel.barriers && !fibers.reserve(block)) return "no memory for the stacks";
    fibers.kernel = &kernel;
    fibers.arguments = arguments;
    fibers.wave_size = 0;
    for (std::uint32_t b = 0; b < grid; ++b) {
        const HostThread base{0, b, block, grid, b % machine.units, &machine};
        if (!kernel.barriers)
            run_block_in_turn(base);
        else if (std::string stuck = run_block_of_fibers(base); !stuck.empty())
            return stuck;
    }
    return {};
}

}  // namespace gpucheck::kernels
