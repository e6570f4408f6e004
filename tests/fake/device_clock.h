// Times that a scenario's figures give, so that a slow GPU can be told from a healthy one on a computer that
// has neither. Without figures a fake GPU's events tell the time of the computer it runs on.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/results.h"

namespace gpucheck::fake {

enum class Path : std::uint8_t { memory, to_device, to_host, peer };
inline constexpr std::size_t kPaths = 4;

/// What a healthy GPU of its kind reaches ("clock"), and the share of it that this one does ("rate").
struct Figures {
    std::array<double, kPaths> gb_s{};
    std::array<double, kernels::kMatrixTypes> tera{};  ///< 10^12 operations a second; 0: not declared
    double jitter = 0;                                 ///< 0.002: each time is up to 0.2 % off, either way
};

/// In order: each thing begins when the one before it has ended.
struct Stream {
    double end_ns = 0;
};

struct Event {
    double simulated_ns = 0;
    std::chrono::steady_clock::time_point at;
};

/// The time of one GPU.
class DeviceClock {
  public:
    DeviceClock(std::optional<Figures> figures, std::string gpu) : figures_(figures), gpu_(std::move(gpu)) {}

    void move(Stream& stream, Path path, double bytes);
    /// `operations`: by matrix data type.
    void multiply(Stream& stream, const std::array<std::uint64_t, kernels::kMatrixTypes>& operations);
    void record(const Stream& stream, Event& event) const;
    double elapsed_ms(const Event& start, const Event& stop) const;
    /// The host waits until the stream is empty.
    void wait(const Stream& stream);

  private:
    void spend(Stream& stream, double ns);

    std::optional<Figures> figures_;
    std::string gpu_;
    double host_ns_ = 0;
    std::uint64_t spent_ = 0;  ///< how often
};

}  // namespace gpucheck::fake
