// Matches lines against the catalogue and remembers the little that later lines need; see recognise.h.
#include "agent/host/kernel_log/recognise.h"

#include <algorithm>
#include <array>

namespace gpucheck::host {
namespace {

constexpr std::size_t kMostDevices = 4096;
// "NVRM: The NVIDIA GPU 0000:27:00.0" names the device of the next few lines, which carry no address.
constexpr std::uint64_t kContextLines = 8;

bool has(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

// "amdgpu 0000:83:00.0: amdgpu: ..." -> driver and address.
std::optional<Bdf> device_prefix(std::string_view message, std::string_view& driver) {
    const std::size_t blank = message.substr(0, 32).find(' ');
    if (blank == std::string_view::npos || blank == 0) return std::nullopt;
    std::string_view word = message.substr(blank + 1, 24);
    word = word.substr(0, word.find(' '));
    while (!word.empty() && (word.back() == ':' || word.back() == ',')) word.remove_suffix(1);
    driver = message.substr(0, blank);
    return Bdf::parse(word);
}

// Words of these programs about modules are as good as the kernel's.
bool believed_program(std::string_view program) {
    return program == "modprobe" || program == "systemd-modules-load" || program == "systemd-udevd" ||
           program == "kmod" || program == "(udev-worker)";
}

// Drivers of what else sits on PCIe in a GPU server.
bool is_other_driver(std::string_view driver) {
    constexpr std::array<std::string_view, 19> kDrivers{
        "nvme",       "mlx5_core", "mlx4_core", "ixgbe",        "i40e",    "ice",  "igb",
        "e1000e",     "bnxt_en",   "ena",       "megaraid_sas", "mpt3sas", "ahci", "xhci_hcd",
        "virtio-pci", "efa",       "qede",      "ast",          "ionic"};
    return std::find(kDrivers.begin(), kDrivers.end(), driver) != kDrivers.end();
}

// STATUS of an ACA bank: bit 61 uncorrected, 44 deferred, 43 poison (AMD64 Architecture Programmer's Manual,
// MCA_STATUS).
void read_aca(std::uint64_t status, Sighting& sighting) {
    const auto bit = [&](unsigned n) { return ((status >> n) & 1U) != 0; };
    sighting.verdict = bit(61) ? Verdict::fail : Verdict::warn;
    sighting.note = bit(61)   ? "STATUS bit 61: uncorrected"
                    : bit(44) ? "STATUS bit 44: deferred, not uncorrected"
                    : bit(43) ? "STATUS bit 43: poison, not uncorrected"
                              : "STATUS says corrected";
    if (bit(61)) sighting.action = Action::drain_and_replace;
}

}  // namespace

void Recogniser::forget() {
    gpus_.clear();
    others_.clear();
    context_.reset();
    hypervisor_ = false;
}

// Which addresses are GPUs: enumeration prints vendor and class ("pci 0000:21:00.0: [10de:2330] type 00 class
// 0x030200"), and only GPU drivers print as nvidia or amdgpu.
void Recogniser::learn(std::string_view message, const std::optional<Bdf>& device, std::string_view driver) {
    if (has(message, "Hypervisor detected")) hypervisor_ = true;
    if (!device) return;
    const std::size_t type = message.find(" class 0x");
    if (type != std::string_view::npos && has(message, "type 0")) {
        const std::string_view code = message.substr(type + 9, 4);
        const bool display = code.starts_with("03") || code == "1200";
        const bool maker = has(message, "[10de:") || has(message, "[1002:");
        if (code == "0604") return;  // a bridge may have a GPU below it
        std::unordered_set<std::uint64_t>& set = display && maker ? gpus_ : others_;
        // The audio and USB functions of a card share its address but for the function: the card stays a GPU.
        if (set.size() < kMostDevices && (&set == &gpus_ || device->function == 0)) set.insert(key(*device));
        if (&set == &gpus_) others_.erase(key(*device));
    } else if ((driver == "nvidia" || driver == "amdgpu" || driver == "nouveau") &&
               gpus_.size() < kMostDevices) {
        gpus_.insert(key(*device));
        others_.erase(key(*device));
    } else if (is_other_driver(driver) && others_.size() < kMostDevices && !is_gpu(*device)) {
        others_.insert(key(*device));
    }
}

std::optional<Sighting> Recogniser::by_rules(std::string_view message, const LogLine& line) {
    const Rules& rules = Rules::get();
    std::optional<Sighting> found;
    rules.each_candidate(filter_, [&](std::size_t index) {
        const Rule& rule = rules.rules[index];
        if (!rule.pattern.may_match(filter_)) return false;
        const EventRow& row = rules.row(rule.row);
        if (!line.program.empty() && !(row.programs && believed_program(line.program))) return false;
        Captures captures;
        if (!rule.pattern.matches(message, captures)) return false;
        if (!row.require.empty() && !has(message, row.require)) return false;
        for (const std::string& text : row.without) {
            if (has(message, text)) return false;
        }
        found.emplace();
        found->row = rule.row;
        found->part = rule.part;
        found->pattern = static_cast<std::uint16_t>(index);
        found->bdf = captures.bdf;
        found->verdict = row.verdict;
        found->device = captures.unit;
        if (row.decode == "aca" && captures.hex) read_aca(*captures.hex, *found);
        if (rule.row == rules.sxid_fatal || rule.row == rules.sxid_nonfatal) {
            found->number = static_cast<unsigned>(std::clamp<std::int64_t>(captures.number.value_or(0), 0, 99999));
        }
        return true;
    });
    return found;
}

std::optional<Recovery> Recogniser::by_recoveries(std::string_view message, const std::optional<Bdf>& device,
                                                  std::optional<Sighting>& sighting) {
    const Rules& rules = Rules::get();
    for (const RecoveryRule& rule : rules.recoveries) {
        Captures captures;
        if (!rule.pattern.may_match(filter_) || !rule.pattern.matches(message, captures)) continue;
        const RecoveryRow& row = event_book().recoveries[rule.recovery];
        if (!row.require.empty() && !has(message, row.require)) continue;
        if (rule.counts_as >= 0 && !sighting) {
            sighting.emplace();
            sighting->row = static_cast<std::uint16_t>(rule.counts_as);
            sighting->part = Part::detail;
            sighting->verdict = rules.row(sighting->row).verdict;
        }
        return Recovery{rule.incidents, captures.bdf ? captures.bdf : device, rule.recovery};
    }
    return std::nullopt;
}

Recognised Recogniser::see(std::string_view message, const LogLine& line, std::uint64_t number) {
    Recognised result;
    const bool fabric = line.fabric_manager || line.program == "nv-fabricmanager";
    const bool kernel = line.program.empty() || fabric;
    if (!kernel && !believed_program(line.program)) return result;

    const std::size_t xid = kernel ? message.find("NVRM: Xid") : std::string_view::npos;
    if (xid != std::string_view::npos) {
        std::string_view rest = message.substr(xid + 9);
        while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
        if (rest.empty() || rest.front() == '(' || rest.front() == ':') {
            result.sighting = read_xid(message.substr(xid));
            if (result.sighting->bdf && gpus_.size() < kMostDevices) gpus_.insert(key(*result.sighting->bdf));
            return result;
        }
    }
    const std::size_t sxid = kernel ? message.find("SXid (") : std::string_view::npos;
    if (sxid != std::string_view::npos && message.rfind("nvswitch", sxid) != std::string_view::npos) {
        result.sighting = read_sxid(message, sxid);
        return result;
    }

    std::string_view driver;
    const std::optional<Bdf> device = device_prefix(message, driver);
    if (kernel) learn(message, device, driver);
    filter_.set(message);
    for (const Pattern& pattern : Rules::get().contexts) {
        Captures captures;
        if (!pattern.may_match(filter_) || !pattern.matches(message, captures)) continue;
        context_ = captures.bdf;
        context_line_ = number;
    }
    LogLine source = line;
    if (fabric) source.program = {};
    result.sighting = by_rules(message, source);
    if (!result.sighting && fabric && line.level >= 0 && line.level <= 3) {
        result.sighting.emplace();
        result.sighting->row = Rules::get().fabric_error;
        result.sighting->verdict = Rules::get().row(result.sighting->row).verdict;
    }
    if (kernel) result.recovery = by_recoveries(message, device, result.sighting);
    if (result.sighting && !result.sighting->bdf) {
        result.sighting->bdf = device;
        const bool nvidia = Rules::get().row(result.sighting->row).family == "nvidia";
        if (!device && nvidia && context_ && number - context_line_ <= kContextLines)
            result.sighting->bdf = context_;
    }
    return result;
}

}  // namespace gpucheck::host
