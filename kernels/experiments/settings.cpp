// Reads what an operator wants run: an unknown word is an error, never something silently not tested.
#include "kernels/experiments/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <variant>

namespace gpucheck::experiments {
namespace {

using namespace std::string_view_literals;

constexpr std::array kNames{"launch"sv,    "matrix"sv, "memory_pattern"sv, "memory_stream"sv,
                            "host_link"sv, "peer"sv,   "gemm"sv,           "matrix_native"sv};
// Short forms for the keys of a command line.
constexpr std::array kShort{"launch"sv, "matrix"sv, "pattern"sv, "stream"sv,
                            "link"sv,   "peer"sv,   "gemm"sv,    "matrix"sv};
static_assert(kNames.size() == kKinds && kShort.size() == kKinds);

struct Key {
    std::string_view name;
    std::variant<std::uint64_t Settings::*, unsigned Settings::*> member;
    std::uint64_t least, most;
    std::uint64_t multiple_of = 1;
};
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 44;
constexpr std::uint64_t kMostTimes = 1000000;
constexpr std::array kKeys{
    Key{"units"sv, &Settings::units, 1, 100000},
    Key{"blocks"sv, &Settings::blocks_per_unit, 1, 64},
    Key{"threads"sv, &Settings::threads, 32, 1024},
    Key{"stream.bytes"sv, &Settings::stream_bytes, kMiB, kMostBytes},
    Key{"stream.reps"sv, &Settings::stream_reps, 2, kMostTimes},
    Key{"pattern.bytes"sv, &Settings::pattern_bytes, kMiB, kMostBytes},
    Key{"pattern.percent"sv, &Settings::pattern_percent, 1, 100},
    Key{"pattern.passes"sv, &Settings::pattern_passes, 1, kMostTimes},
    Key{"matrix.rounds"sv, &Settings::matrix_rounds, 1, 4096},
    Key{"matrix.iterations"sv, &Settings::matrix_iterations, 1, 100000000},
    Key{"matrix.ms"sv, &Settings::matrix_ms, 1, 60000},
    Key{"matrix.reps"sv, &Settings::matrix_reps, 0, kMostTimes},
    Key{"gemm.size"sv, &Settings::gemm_size, 128, 65536, 128},
    Key{"gemm.depth"sv, &Settings::gemm_depth, 64, 65536, 64},
    Key{"gemm.reps"sv, &Settings::gemm_reps, 0, kMostTimes},
    Key{"link.bytes"sv, &Settings::link_bytes, kMiB, kMostBytes},
    Key{"link.reps"sv, &Settings::link_reps, 2, kMostTimes},
    Key{"launch.reps"sv, &Settings::launch_reps, 2, kMostTimes},
    Key{"timed"sv, &Settings::timed, 0, 1},
    Key{"peer.bytes"sv, &Settings::peer_bytes, kMiB, kMostBytes},
    Key{"peer.reps"sv, &Settings::peer_reps, 2, kMostTimes},
};

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t value = 0, factor = 1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    if (unit == "KiB")
        factor = kMiB / 1024;
    else if (unit == "MiB")
        factor = kMiB;
    else if (unit == "GiB")
        factor = kMiB * 1024;
    else if (!unit.empty())
        return std::nullopt;
    if (value > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    return value * factor;
}

std::string quoted(std::string_view text) {
    return "'" + std::string(text.substr(0, 60)) + "'";
}

template <std::size_t kCount>
std::string set_types(std::string_view name, std::string_view text,
                      const std::array<std::string_view, kCount>& known, std::vector<std::string>& types) {
    types.clear();
    while (!text.empty()) {
        const std::string_view type = text.substr(0, text.find('+'));
        text.remove_prefix(std::min(text.size(), type.size() + 1));
        if (std::find(known.begin(), known.end(), type) == known.end())
            return std::string(name) + ": no data type of it: " + quoted(type);
        types.emplace_back(type);
    }
    return types.empty() ? std::string(name) + "= names no type" : "";
}

constexpr std::array kMatrixTypes{"f64"sv,  "tf32"sv, "f16"sv,  "bf16"sv, "e4m3"sv,
                                  "e5m2"sv, "i8"sv,   "e2m3"sv, "e3m2"sv, "e2m1"sv};
constexpr std::array kGemmTypes{"bf16"sv, "f16"sv, "e4m3"sv};
constexpr std::array kPaths{"mma"sv, "wgmma"sv, "f8f6f4"sv};

/// What is no number. nullopt: it is one.
std::optional<std::string> set_word(std::string_view name, std::string_view text, Settings& settings) {
    if (name == "matrix.types") return set_types(name, text, kMatrixTypes, settings.matrix_types);
    if (name == "gemm.types") return set_types(name, text, kGemmTypes, settings.gemm_types);
    if (name != "matrix.path") return std::nullopt;
    if (std::find(kPaths.begin(), kPaths.end(), text) == kPaths.end())
        return "matrix.path: mma, wgmma or f8f6f4, not " + quoted(text);
    settings.matrix_path = text;
    return "";
}

std::string set(std::string_view name, std::string_view text, Settings& settings) {
    if (const auto error = set_word(name, text, settings)) return *error;
    for (const Key& key : kKeys) {
        if (key.name != name) continue;
        const auto value = number_of(text);
        if (!value) return std::string(name) + ": no number: " + quoted(text);
        if (*value < key.least || *value > key.most)
            return std::string(name) + ": not within " + std::to_string(key.least) + " and " +
                   std::to_string(key.most) + ": " + quoted(text);
        if (*value % key.multiple_of != 0)
            return std::string(name) + ": no multiple of " + std::to_string(key.multiple_of) + ": " +
                   quoted(text);
        if (const auto* wide = std::get_if<std::uint64_t Settings::*>(&key.member)) {
            settings.*(*wide) = *value;
        } else {
            settings.*(std::get<unsigned Settings::*>(key.member)) = static_cast<unsigned>(*value);
        }
        settings.sized_by_hand = true;
        return "";
    }
    return "unknown setting: " + quoted(name);
}

}  // namespace

std::string_view name_of(Kind kind) {
    const auto at = static_cast<std::size_t>(kind);
    return at < kNames.size() ? kNames[at] : "?";
}

std::string text_of(const Injection& injection) {
    constexpr std::array kKindNames{"none"sv, "bit"sv, "operand"sv, "lane"sv, "skip"sv};
    std::string text(kKindNames[static_cast<std::size_t>(injection.kind)]);
    if (injection.place) text += ":" + std::to_string(*injection.place);
    return text;
}

Settings settings_for(Profile profile) {
    Settings settings;
    if (profile == Profile::boot || profile == Profile::quick) return settings;
    settings.pattern_percent = 97;
    settings.pattern_passes = 2;
    settings.matrix_rounds = 16;
    settings.matrix_ms = 500;
    settings.matrix_reps = 10;
    settings.stream_reps = 50;
    settings.link_reps = 20;
    settings.launch_reps = 1000;
    settings.peer_reps = 8;
    settings.run[static_cast<std::size_t>(Kind::gemm)] = true;
    return settings;
}

bool wants_path(const Settings& settings, std::string_view path) {
    return settings.matrix_path.empty() || settings.matrix_path == path;
}

std::string apply(std::string_view text, Settings& settings) {
    bool chosen[kKinds] = {}, any = false;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::size_t equals = item.find('=');
        if (equals != std::string_view::npos) {
            if (std::string error = set(item.substr(0, equals), item.substr(equals + 1), settings);
                !error.empty())
                return error;
            continue;
        }
        bool found = false;
        for (std::size_t i = 0; i < kKinds; ++i) {
            if (item != kNames[i] && item != kShort[i]) continue;
            chosen[i] = found = any = true;
        }
        if (!found) return "no experiment: " + quoted(item);
    }
    if (any) {
        for (std::size_t i = 0; i < kKinds; ++i) settings.run[i] = chosen[i];
    }
    return "";
}

std::string parse_injection(std::string_view text, Injection& injection) {
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    Injection parsed;
    if (kind == "bit")
        parsed.kind = Injection::Kind::bit;
    else if (kind == "lane")
        parsed.kind = Injection::Kind::lane;
    else if (kind == "operand")
        parsed.kind = Injection::Kind::operand;
    else if (kind == "skip")
        parsed.kind = Injection::Kind::skip;
    else
        return "no fault: " + quoted(text) + "; bit[:OFFSET], lane[:LANE], operand[:LANE] or skip";
    if (colon != std::string_view::npos) {
        parsed.place = number_of(text.substr(colon + 1));
        if (!parsed.place || parsed.kind == Injection::Kind::skip) return "no place: " + quoted(text);
    }
    injection = parsed;
    return "";
}

}  // namespace gpucheck::experiments
