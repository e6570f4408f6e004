// One line that reports something, before it is folded with others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/host/kernel_log/rules.h"
#include "checks/model/bdf.h"
#include "checks/model/verdict.h"

namespace gpucheck::host {

struct Sighting {
    std::uint16_t row = 0;  ///< of the event catalogue
    Part part = Part::report;
    std::uint16_t pattern = 0;  ///< which pattern of it, so that details of one kind can be counted
    std::optional<Bdf> bdf;
    unsigned number = 0;  ///< Xid or SXid
    Verdict verdict = Verdict::unknown;
    std::optional<Scope> scope;
    std::optional<Action> action;
    std::string_view device;  ///< "nvidia-nvswitch1", "umc"
    std::string_view state;   ///< Xid 154: the label of the new state
    std::string_view note;    ///< literal
    std::uint64_t actor = 0;  ///< hash of the pid; 0 not printed
    std::uint32_t unit = 0;   ///< GPC and TPC, or the engine, that raised an application fault; 0 not printed
};

/// Decodes "NVRM: Xid (...): N, ..." at `text`, which begins with "NVRM: Xid".
Sighting read_xid(std::string_view text);
/// Decodes "nvidia-nvswitchN: SXid (PCI:...): N, Fatal|Non-fatal|Data ..." where `text` is the whole message
/// and `at` the place of "SXid (".
Sighting read_sxid(std::string_view text, std::size_t at);

}  // namespace gpucheck::host
