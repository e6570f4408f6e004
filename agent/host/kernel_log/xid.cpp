// Decodes the numbered errors of the NVIDIA driver, where one number has several meanings and the words
// behind it decide between "reboot some day" and "replace the board".
#include <charconv>

#include "agent/host/kernel_log/sighting.h"

namespace gpucheck::host {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool has(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const bool begins = at == 0 || !is_letter(text[at - 1]);
        const std::size_t end = at + word.size();
        if (begins && (end == text.size() || !is_letter(text[end]))) return true;
    }
    return false;
}

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 1469598103934665603ULL;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash | 1U;
}

std::optional<unsigned> number_after(std::string_view text, std::string_view word) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    unsigned value = 0;
    const char* begin = text.data() + at + word.size();
    const auto parsed = std::from_chars(begin, text.data() + text.size(), value);
    if (parsed.ec != std::errc{}) return std::nullopt;
    return value;
}

// "pid=771204" is a job; "pid='<unknown>'" is nobody.
std::uint64_t actor_of(std::string_view text) {
    const std::optional<unsigned> pid = number_after(text, "pid=");
    return pid ? hash_of(std::to_string(*pid)) : 0;
}

// The part of the GPU that raised an application fault: 13 names GPC and TPC, 31 the engine and its client.
std::uint32_t unit_of(unsigned xid, std::string_view text) {
    if (xid == 13) {
        const auto gpc = number_after(text, "GPC "), tpc = number_after(text, "TPC ");
        return gpc && tpc && *gpc < 1000 && *tpc < 1000 ? 1 + *gpc * 1000 + *tpc : 0;
    }
    if (xid != 31) return 0;
    const std::size_t begin = text.find("ENGINE "), end = text.find(" faulted");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return 0;
    return static_cast<std::uint32_t>(hash_of(text.substr(begin, end - begin)) >> 16U) | 1U;
}

// 154: "changed from 0x0 (None) to 0x4 (Drain and Reset)": the last label counts, the numbers differ between
// sources.
void read_recovery(std::string_view text, Sighting& sighting) {
    const std::size_t to = text.rfind(" to ");
    const std::size_t open = to == std::string_view::npos ? to : text.find('(', to);
    const std::size_t close = open == std::string_view::npos ? open : text.find(')', open);
    if (close == std::string_view::npos) {
        sighting.note = "the new state cannot be read";
        return;
    }
    const std::string_view label = text.substr(open + 1, close - open - 1);
    sighting.state = label;
    sighting.verdict = Verdict::fail;
    if (label == "None") {
        sighting.verdict = Verdict::pass;
        sighting.action = Action::none;
    } else if (has(label, "Reboot")) {
        sighting.action = Action::reboot;
    } else if (has(label, "Reset")) {
        sighting.action = Action::reset_gpu;
    } else if (has(label, "Drain")) {
        sighting.action = Action::drain_and_replace;
    } else {
        sighting.verdict = Verdict::unknown;
        sighting.note = "a recovery action that this version does not know";
    }
}

void refine(unsigned xid, std::string_view text, Sighting& sighting) {
    const bool failed =
        has(text, "ailed") || has(text, "ailure") || has(text, "xhausted") || has(text, "nable to");
    const bool pending = has(text, "pending") || has(text, "to activate");
    switch (xid) {
        case 63:
            if (failed) {
                sighting.verdict = Verdict::fail;
                sighting.scope = Scope::host;
                sighting.action = Action::drain_and_replace;
                sighting.note = "the text says that the repair failed";
            }
            break;
        case 64:
            if (pending && !failed) {
                sighting.verdict = Verdict::warn;
                sighting.scope = Scope::guest;
                sighting.action = Action::reboot;
                sighting.note = "the repair waits for a reboot";
            }
            break;
        case 144:
        case 145:
        case 146:
        case 147:
        case 148:
        case 149:
        case 150:
            if (has_word(text, "Nonfatal") || has_word(text, "Non-fatal") || has_word(text, "NonFatal")) {
                sighting.verdict = Verdict::warn;
                sighting.action = Action::monitor;
                sighting.note = "the driver calls it nonfatal";
            } else if (has_word(text, "Fatal")) {
                sighting.verdict = Verdict::fail;
            } else {
                sighting.note = "the line does not say whether it was fatal";
            }
            break;
        case 154:
            read_recovery(text, sighting);
            break;
        default:
            break;
    }
}

// The number after "): "; false when it is missing or absurd.
bool read_number(std::string_view text, unsigned& number) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{} || number == 0 || number > 99999) return false;
    return parsed.ptr == text.data() + text.size() || !is_letter(*parsed.ptr);
}

}  // namespace

Sighting read_xid(std::string_view text) {
    const Rules& rules = Rules::get();
    Sighting sighting;
    sighting.row = rules.xid_unparsed;
    text.remove_prefix(std::string_view("NVRM: Xid").size());
    const std::size_t open = text.find('(');
    if (open == std::string_view::npos || open > 2) return sighting;
    // "(PCI:0000:3b:00)", "(0000:27:00)", "(PCI:0000:0f:00 GPU-I:05)"
    std::string_view address = text.substr(open + 1);
    const std::size_t close = address.find(')');
    if (close == std::string_view::npos) return sighting;
    const std::string_view rest = address.substr(close + 1);
    address = address.substr(0, close);
    if (address.starts_with("PCI:")) address.remove_prefix(4);
    address = address.substr(0, address.find(' '));
    sighting.bdf = Bdf::parse(address);
    const std::size_t colon = rest.find(':');
    if (!sighting.bdf || colon == std::string_view::npos || colon > 40) return sighting;
    std::string_view words = rest.substr(colon + 1);
    while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
    unsigned number = 0;
    if (!read_number(words, number)) return sighting;
    sighting.row = rules.xid_row(number);
    sighting.number = number;
    sighting.verdict = rules.row(sighting.row).verdict;
    sighting.actor = actor_of(words);
    sighting.unit = unit_of(number, words);
    refine(number, words, sighting);
    return sighting;
}

Sighting read_sxid(std::string_view text, std::size_t at) {
    const Rules& rules = Rules::get();
    Sighting sighting;
    sighting.row = rules.sxid_unparsed;
    const std::size_t driver = text.rfind("nvidia-nvswitch", at);
    if (driver != std::string_view::npos) {
        std::size_t end = driver + std::string_view("nvidia-nvswitch").size();
        while (end < text.size() && is_digit(text[end])) ++end;
        sighting.device = text.substr(driver, end - driver);
    }
    std::string_view rest = text.substr(at);
    const std::size_t open = rest.find('('), close = rest.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return sighting;
    std::string_view address = rest.substr(open + 1, close - open - 1);
    if (address.starts_with("PCI:")) address.remove_prefix(4);
    sighting.bdf = Bdf::parse(address);
    // Inside virtual machines the driver prints 0000:00:00.0, which is no device (field logs of gpud).
    if (sighting.bdf == Bdf{}) sighting.bdf.reset();
    rest.remove_prefix(close + 1);
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos || colon > 4) return sighting;
    std::string_view words = rest.substr(colon + 1);
    while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
    unsigned number = 0;
    if (!read_number(words, number)) return sighting;
    sighting.number = number;
    const std::size_t comma = words.find(',');
    words = comma == std::string_view::npos ? std::string_view{} : words.substr(comma + 1);
    while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
    if (words.starts_with("Fatal")) sighting.row = rules.sxid_fatal;
    if (words.starts_with("Non-fatal") || words.starts_with("Nonfatal")) sighting.row = rules.sxid_nonfatal;
    if (sighting.row == rules.sxid_unparsed && words.starts_with("Data")) sighting.part = Part::detail;
    sighting.verdict = rules.row(sighting.row).verdict;
    return sighting;
}

}  // namespace gpucheck::host
