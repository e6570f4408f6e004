// What both vendors' compute libraries do, once: each call meets its faults by the vendor's own name of it,
// and the numbers of their errors are the same.
#pragma once

#include "tests/fake/fake_gpu.h"

namespace gpucheck::fake {

class Calls {
  public:
    /// "nvidia" or "amd": which of the scenario's GPUs these are.
    explicit Calls(const char* vendor) : gpus_(gpus(vendor)) {}

    int init(const char* name);
    int by_bus_id(int* device, const char* address, const char* name);
    FakeGpu* at(int device);  ///< nullptr: no such number
    int device_name(char* text, int length, int device);
    int total_memory(std::size_t* bytes, int device);
    int select(FakeGpu* gpu);
    int memory_info(std::size_t* free, std::size_t* total, const char* name);
    int can_reach_peer(int* can);
    int enter(const char* name);  ///< a call that does nothing here but meet its faults

    int load(void** module, const void* image, const char* name);
    int function(void** function, void* module, const char* kernel, const char* name);
    int launch(void* function, unsigned blocks, unsigned threads, void* stream, void** arguments,
               const char* name);

    int allocate(void** memory, std::size_t bytes, const char* name);
    int release(void* memory);
    int allocate_host(void** memory, std::size_t bytes, const char* name);
    int release_host(void* memory);
    int copy(void* to, const void* from, std::size_t bytes, Path path, void* stream, const char* name);
    /// To `other` from the current GPU, which the copy is queued on.
    int copy_peer(void* to, FakeGpu* other, const void* from, std::size_t bytes, void* stream,
                  const char* name);
    int fill(void* to, std::uint32_t word, std::size_t words, void* stream, const char* name);

    int create_stream(void** stream, const char* name);
    int synchronize(void* stream, const char* name);
    int create_event(void** event);
    int record(void* event, void* stream, const char* name);
    int elapsed(float* ms, void* start, void* stop);

  private:
    Stream& stream_of(void* handle);

    std::vector<std::unique_ptr<FakeGpu>>& gpus_;
    FakeGpu* current_ = nullptr;
    Stream default_;
};

}  // namespace gpucheck::fake
