// See fake_calls.h.
#include "tests/fake/fake_calls.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "checks/model/bdf.h"

namespace gpucheck::fake {
namespace {

/// What a handle of a function points to; lives as long as the process, as modules do here.
struct Function {
    FakeGpu* gpu;
    std::string name;
};

}  // namespace

int Calls::init(const char* name) {
    for (const auto& gpu : gpus_) {
        if (const int error = gpu->enter(name)) return error;
    }
    return gpus_.empty() ? kNoDevice : 0;
}

int Calls::by_bus_id(int* device, const char* address, const char* name) {
    const auto wanted = Bdf::parse(address);
    for (std::size_t i = 0; wanted && i < gpus_.size(); ++i) {
        if (Bdf::parse(gpus_[i]->about().bdf) != wanted) continue;
        *device = static_cast<int>(i);
        return gpus_[i]->enter(name);
    }
    return kInvalidDevice;
}

FakeGpu* Calls::at(int device) {
    const auto index = static_cast<std::size_t>(device);
    return device >= 0 && index < gpus_.size() ? gpus_[index].get() : nullptr;
}

int Calls::device_name(char* text, int length, int device) {
    if (at(device) == nullptr) return kInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "%s", at(device)->about().name.c_str());
    return 0;
}

int Calls::total_memory(std::size_t* bytes, int device) {
    if (at(device) == nullptr) return kInvalidDevice;
    *bytes = at(device)->about().memory_bytes;
    return 0;
}

int Calls::select(FakeGpu* gpu) {
    current_ = gpu;
    return gpu != nullptr ? 0 : kInvalidDevice;
}

int Calls::memory_info(std::size_t* free, std::size_t* total, const char* name) {
    if (const int error = enter(name)) return error;
    *free = current_->free_bytes();
    *total = current_->about().memory_bytes;
    return 0;
}

int Calls::can_reach_peer(int* can) {
    *can = 1;
    return 0;
}

int Calls::enter(const char* name) {
    return current_ != nullptr ? current_->enter(name) : kInvalidDevice;
}

int Calls::load(void** module, const void* image, const char* name) {
    if (image == nullptr) return kInvalidValue;
    *module = current_;
    return enter(name);
}

int Calls::function(void** function, void* module, const char* kernel, const char* name) {
    auto* gpu = static_cast<FakeGpu*>(module);
    if (gpu == nullptr) return kInvalidHandle;
    if (const int error = gpu->enter(name, kernel)) return error;
    if (!has_kernel(*gpu, kernel)) return kNotFound;
    *function = new Function{gpu, kernel};
    return 0;
}

int Calls::launch(void* function, unsigned blocks, unsigned threads, void* stream, void** arguments,
                  const char* name) {
    auto* of = static_cast<Function*>(function);
    if (of == nullptr) return kInvalidHandle;
    if (const int error = of->gpu->enter(name, of->name)) return error;
    return run_kernel(*of->gpu, stream_of(stream), of->name, blocks, threads, arguments);
}

int Calls::allocate(void** memory, std::size_t bytes, const char* name) {
    if (const int error = enter(name)) return error;
    *memory = current_->allocate(bytes);
    return *memory == nullptr ? kOutOfMemory : 0;
}

int Calls::release(void* memory) {
    return current_ != nullptr && current_->release(memory) ? 0 : kInvalidValue;
}

int Calls::allocate_host(void** memory, std::size_t bytes, const char* name) {
    if (const int error = enter(name)) return error;
    *memory = std::malloc(bytes);
    return *memory == nullptr ? kOutOfMemory : 0;
}

int Calls::release_host(void* memory) {
    std::free(memory);
    return 0;
}

int Calls::copy(void* to, const void* from, std::size_t bytes, Path path, void* stream, const char* name) {
    if (const int error = enter(name)) return error;
    if (path != Path::to_host && !current_->owns(to, bytes)) return kIllegalAddress;
    if (path != Path::to_device && !current_->owns(from, bytes)) return kIllegalAddress;
    std::memmove(to, from, bytes);
    current_->deliver(name, to, bytes);
    current_->settle();
    current_->clock().move(stream_of(stream), path, static_cast<double>(bytes));
    return 0;
}

int Calls::copy_peer(void* to, FakeGpu* other, const void* from, std::size_t bytes, void* stream,
                     const char* name) {
    if (const int error = enter(name)) return error;
    if (other == nullptr || !other->owns(to, bytes) || !current_->owns(from, bytes)) return kIllegalAddress;
    std::memcpy(to, from, bytes);
    current_->deliver(name, to, bytes);
    other->settle();
    current_->clock().move(stream_of(stream), Path::peer, static_cast<double>(bytes));
    return 0;
}

int Calls::fill(void* to, std::uint32_t word, std::size_t words, void* stream, const char* name) {
    if (const int error = enter(name)) return error;
    if (!current_->owns(to, words * 4)) return kIllegalAddress;
    auto* out = static_cast<std::uint32_t*>(to);
    for (std::size_t i = 0; i < words; ++i) out[i] = word;
    current_->settle();
    current_->clock().move(stream_of(stream), Path::memory, static_cast<double>(words) * 4);
    return 0;
}

int Calls::create_stream(void** stream, const char* name) {
    *stream = new Stream;  // as long as the process, too
    return enter(name);
}

int Calls::synchronize(void* stream, const char* name) {
    if (const int error = enter(name)) return error;
    current_->clock().wait(stream_of(stream));
    return 0;
}

int Calls::create_event(void** event) {
    *event = new Event;
    return 0;
}

int Calls::record(void* event, void* stream, const char* name) {
    if (const int error = enter(name)) return error;
    current_->clock().record(stream_of(stream), *static_cast<Event*>(event));
    return 0;
}

int Calls::elapsed(float* ms, void* start, void* stop) {
    if (current_ == nullptr) return kInvalidDevice;
    *ms = static_cast<float>(
        current_->clock().elapsed_ms(*static_cast<Event*>(start), *static_cast<Event*>(stop)));
    return 0;
}

Stream& Calls::stream_of(void* handle) {
    return handle != nullptr ? *static_cast<Stream*>(handle) : default_;
}

}  // namespace gpucheck::fake
