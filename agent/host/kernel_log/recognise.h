// Decides what one line reports, given what the lines before it said about the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "agent/host/kernel_log/line.h"
#include "agent/host/kernel_log/sighting.h"

namespace gpucheck::host {

struct Recovery {
    std::uint32_t incidents = 0;
    std::optional<Bdf> bdf;      ///< nullopt: all devices
    std::uint16_t recovery = 0;  ///< index into event_book().recoveries
};

struct Recognised {
    std::optional<Sighting> sighting;
    std::optional<Recovery> recovery;
};

class Recogniser {
  public:
    /// `message` is one line of the kernel's words; `line` is where it came from.
    Recognised see(std::string_view message, const LogLine& line, std::uint64_t number);

    bool hypervisor() const { return hypervisor_; }
    bool is_gpu(const Bdf& bdf) const { return gpus_.contains(key(bdf)); }
    bool is_other(const Bdf& bdf) const { return others_.contains(key(bdf)); }
    /// A new boot: what was known about the machine is forgotten.
    void forget();

  private:
    static std::uint64_t key(const Bdf& bdf) {
        return (static_cast<std::uint64_t>(bdf.domain) << 16U) | (static_cast<std::uint64_t>(bdf.bus) << 8U) |
               (static_cast<std::uint64_t>(bdf.device) << 3U);
    }
    void learn(std::string_view message, const std::optional<Bdf>& device, std::string_view driver);
    std::optional<Sighting> by_rules(std::string_view message, const LogLine& line);
    std::optional<Recovery> by_recoveries(std::string_view message, const std::optional<Bdf>& device,
                                          std::optional<Sighting>& sighting);

    LineFilter filter_;
    std::unordered_set<std::uint64_t> gpus_, others_;  ///< bounded; by card, not function
    std::optional<Bdf> context_;
    std::uint64_t context_line_ = 0;
    bool hypervisor_ = false;
};

}  // namespace gpucheck::host
