// A machine of fake GPUs, read through the real reader and the fake libnvidia-ml.so.1.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/vendor/telemetry.h"

namespace gpucheck {

/// PCI addresses of the GPUs of tests/machines/h100-x8-healthy.
extern const std::vector<std::string> kAddresses;

struct FakeMachine {
    /// `count` GPUs of one board.
    explicit FakeMachine(const std::string& board = "h100-sxm", std::size_t count = 8);
    ~FakeMachine();
    FakeMachine(const FakeMachine&) = delete;

    nlohmann::json scenario;
    std::chrono::milliseconds deadline{5000};  ///< a healthy reading takes a fraction, even under a sanitizer

    void value(const std::string& address, const std::string& call, nlohmann::json value);
    void fault(const std::string& call, const std::string& what, const std::string& address = "",
               const std::string& code = "");
    /// The library lacks these from now on.
    void hide(const std::vector<std::string>& symbols);

    Snapshot machine() const;  ///< the GPUs on PCI, nothing read yet
    Snapshot read();
    void read(Snapshot& snapshot, bool again);

    std::string folder;  ///< a copy of the fake driver, and the scenario
};

const NvidiaTelemetry& first_of(const Snapshot& snapshot, const std::string& address);

/// Facts of `sick` that are known and not as in `well`, by path; `except` names a source whose facts may
/// differ.
std::vector<std::string> invented(const NvidiaTelemetry& sick, const NvidiaTelemetry& well,
                                  const std::string& except = "");
std::vector<std::string> invented(const NvmlSystem& sick, const NvmlSystem& well,
                                  const std::string& except = "");
/// Known facts of `sick` whose value `well` does not give, whichever call it came from.
std::vector<std::string> contradicting(const NvidiaTelemetry& sick, const NvidiaTelemetry& well);
/// A deadline that a healthy reading of such a machine meets with room, however busy this computer is.
std::chrono::milliseconds short_deadline(FakeMachine& machine);
/// How many facts are known.
std::size_t known_facts(const NvidiaTelemetry& telemetry);

}  // namespace gpucheck
