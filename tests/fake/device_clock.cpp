// A GPU's time from bytes moved and operations done; see device_clock.h.
#include "tests/fake/device_clock.h"

#include <algorithm>

#include "kernels/hash.h"
#include "tests/fake/fake_gpu.h"

namespace gpucheck::fake {

void DeviceClock::spend(Stream& stream, double ns) {
    // The same deviations in every run of the same scenario, others on every GPU.
    const std::uint64_t hash = kernels::mix64(std::hash<std::string>{}(gpu_) + spent_++);
    const double off = static_cast<double>(hash >> 11) / static_cast<double>(std::uint64_t{1} << 52) - 1;
    stream.end_ns = std::max(stream.end_ns, host_ns_) + ns * (1 + figures_->jitter * off);
}

void DeviceClock::move(Stream& stream, Path path, double bytes) {
    if (figures_) spend(stream, bytes / figures_->gb_s[static_cast<std::size_t>(path)]);
}

void DeviceClock::multiply(Stream& stream,
                           const std::array<std::uint64_t, kernels::kMatrixTypes>& operations) {
    if (!figures_) return;
    for (std::size_t type = 0; type < operations.size(); ++type) {
        if (operations[type] == 0) continue;
        if (figures_->tera[type] <= 0) refuse("no matrix_tflops for data type " + std::to_string(type));
        spend(stream, static_cast<double>(operations[type]) / figures_->tera[type] / 1e3);
    }
}

void DeviceClock::record(const Stream& stream, Event& event) const {
    event.simulated_ns = std::max(stream.end_ns, host_ns_);
    event.at = std::chrono::steady_clock::now();
}

double DeviceClock::elapsed_ms(const Event& start, const Event& stop) const {
    if (figures_) return (stop.simulated_ns - start.simulated_ns) / 1e6;
    return std::chrono::duration<double, std::milli>(stop.at - start.at).count();
}

void DeviceClock::wait(const Stream& stream) {
    host_ns_ = std::max(host_ns_, stream.end_ns);
}

}  // namespace gpucheck::fake
