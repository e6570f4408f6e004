// Parses and merges expectations; see expect.h.
#include "checks/specs/expect.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "checks/model/version.h"

namespace gpucheck {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kKeys =
    "gpu_count, board, compute_partition, memory_partition, pcie_generation, pcie_width, driver_version, "
    "kernel_version, ecc, mig, gpu_link, rdma_nics, local_nvme";
constexpr std::array kComputePartitions{"SPX"sv, "DPX"sv, "TPX"sv, "QPX"sv, "CPX"sv};
constexpr std::array kMemoryPartitions{"NPS1"sv, "NPS2"sv, "NPS4"sv, "NPS8"sv};
constexpr std::size_t kLongestVersion = 64;
constexpr unsigned kMostParts = 128;  // NICs or drives of one machine

std::string shown(std::string_view text) {
    std::string safe(text.substr(0, 60));
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
        '?');
    return "'" + safe + "'";
}

std::string upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

std::optional<unsigned> whole(std::string_view text, unsigned max) {
    unsigned value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end || value > max) return std::nullopt;
    return value;
}

bool is_version(std::string_view text) {
    const auto allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+' || c == '_';
    };
    return text.size() <= kLongestVersion && compare_versions(text, text) &&
           std::all_of(text.begin(), text.end(), allowed);
}

std::string bad(std::string_view key, std::string_view value, std::string_view wanted) {
    return "--expect " + std::string(key) + "=: " + shown(value) + " is not " + std::string(wanted) +
           " (keys: " + std::string(kKeys) + ")";
}

// Sets one field; the error text when the key or the value is wrong.
std::string set_field(Expectations& expected, std::string_view key, std::string_view value,
                      const BoardTable& boards, const std::string& source) {
    if (key == "gpu_count") {
        const auto count = whole(value, kMostGpus);
        if (!count) return bad(key, value, "a whole number from 0 to 1024");
        expected.gpu_count = Fact<unsigned>(*count, source);
    } else if (key == "board") {
        if (boards.find(value) == nullptr) {
            std::string near;
            for (const std::string& candidate : boards.near_keys(value))
                near += (near.empty() ? "" : ", ") + candidate;
            return bad(key, value,
                       near.empty() ? std::string("a board key; `gpucheck specs` lists them")
                                    : "a board key; near: " + near);
        }
        expected.board = Fact<std::string>(std::string(value), source);
    } else if (key == "compute_partition") {
        if (!is_compute_partition(upper(value))) return bad(key, value, "one of SPX, DPX, TPX, QPX, CPX");
        expected.compute_partition = Fact<std::string>(upper(value), source);
    } else if (key == "memory_partition") {
        if (!is_memory_partition(upper(value))) return bad(key, value, "one of NPS1, NPS2, NPS4, NPS8");
        expected.memory_partition = Fact<std::string>(upper(value), source);
    } else if (key == "pcie_generation") {
        const auto generation = whole(value, 7);
        if (!generation || *generation == 0) return bad(key, value, "a generation from 1 to 7");
        expected.pcie_generation = Fact<unsigned>(*generation, source);
    } else if (key == "pcie_width") {
        const auto width = whole(value, 32);
        if (!width || !is_link_width(*width)) return bad(key, value, "one of 1, 2, 4, 8, 12, 16, 32 lanes");
        expected.pcie_width = Fact<unsigned>(*width, source);
    } else if (key == "driver_version" || key == "kernel_version") {
        if (!is_version(value)) return bad(key, value, "a version like 570.133 or 6.8");
        (key == "driver_version" ? expected.driver_version : expected.kernel_version) =
            Fact<std::string>(std::string(value), source);
    } else if (key == "ecc" || key == "mig") {
        if (value != "on" && value != "off") return bad(key, value, "on or off");
        (key == "ecc" ? expected.ecc : expected.mig) = Fact<bool>(value == "on", source);
    } else if (key == "gpu_link") {
        if (value != "nvlink" && value != "xgmi" && value != "none")
            return bad(key, value, "one of nvlink, xgmi, none");
        expected.gpu_link = Fact<std::string>(std::string(value), source);
    } else if (key == "rdma_nics" || key == "local_nvme") {
        const auto count = whole(value, kMostParts);
        if (!count) return bad(key, value, "a whole number from 0 to 128");
        (key == "rdma_nics" ? expected.rdma_nics : expected.local_nvme) = Fact<unsigned>(*count, source);
    } else {
        return "--expect: unknown key " + shown(key) + " (keys: " + std::string(kKeys) + ")";
    }
    return {};
}

std::string text_of(const std::string& value) {
    return value;
}
std::string text_of(bool value) {
    return value ? "on" : "off";
}
std::string text_of(unsigned value) {
    return std::to_string(value);
}

template <class T>
Fact<T> merged(std::string_view name, Fact<T> flag, Fact<T> from_type, std::vector<std::string>& conflicts) {
    // Of two reasons the one is told that says more than that nobody stated anything.
    if (!flag.known())
        return from_type.known() || flag.why() == "not looked at" ? std::move(from_type) : std::move(flag);
    if (from_type.known() && *from_type != *flag) {
        conflicts.push_back(std::string(name) + ": " + flag.source() + " says " + text_of(*flag) + ", " +
                            from_type.source() + " says " + text_of(*from_type));
    }
    return flag;
}

}  // namespace

bool is_compute_partition(std::string_view text) {
    return std::find(kComputePartitions.begin(), kComputePartitions.end(), text) != kComputePartitions.end();
}

bool is_memory_partition(std::string_view text) {
    return std::find(kMemoryPartitions.begin(), kMemoryPartitions.end(), text) != kMemoryPartitions.end();
}

std::variant<Expectations, std::string> parse_expect(const std::vector<std::string>& key_values,
                                                     const BoardTable& boards, std::string_view source) {
    Expectations expected;
    std::map<std::string, std::string, std::less<>> seen;
    for (const std::string& pair : key_values) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos) {
            return "--expect: " + shown(pair) + " is not KEY=VALUE (keys: " + std::string(kKeys) + ")";
        }
        const std::string key = pair.substr(0, equals), value = pair.substr(equals + 1);
        if (std::string error = set_field(expected, key, value, boards, std::string(source)); !error.empty())
            return error;
        const auto [before, first] = seen.emplace(key, value);
        if (!first && before->second != value) {
            return "--expect " + key + " is given twice: " + shown(before->second) + " and " + shown(value) +
                   " (keys: " + std::string(kKeys) + ")";
        }
    }
    return expected;
}

std::variant<Expectations, std::string> parse_expect(const std::vector<std::string>& key_values) {
    auto boards = BoardTable::load();
    if (auto* error = std::get_if<std::string>(&boards)) return std::move(*error);
    return parse_expect(key_values, std::get<BoardTable>(boards));
}

Expectations merge(Expectations flags, Expectations from_type, std::vector<std::string>& conflicts) {
    Expectations result;
    // One pass over the field list: a field added to Expectations cannot be forgotten here.
    Expectations::fields([&](auto... field) {
        ((result.*(field.member) = merged(field.name, std::move(flags.*(field.member)),
                                          std::move(from_type.*(field.member)), conflicts)),
         ...);
    });
    return result;
}

}  // namespace gpucheck
