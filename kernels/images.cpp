// See images.h.
#include "kernels/images.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#if GPUCHECK_HAVE_ZSTD
#include <zstd.h>
#endif

#define GPUCHECK_IMAGE(vendor, architecture, source, symbol) \
    extern "C" const char symbol##_begin[], symbol##_end[];
#define GPUCHECK_NO_IMAGE(vendor, architecture, source, obstacle)
#include <image_rows.inc>
#undef GPUCHECK_IMAGE
#undef GPUCHECK_NO_IMAGE

namespace gpucheck::kernels {
namespace {

constexpr std::string_view kNativeSource = "matrix_native";

bool uses_matrix_units(std::string_view source) {
    return source == "matrix" || source == "gemm";
}

constexpr std::size_t kMostBytes = std::size_t{64}
                                   << 20;  // far above any image; a damaged size is not believed

#if GPUCHECK_HAVE_ZSTD
std::optional<std::string> unpack(std::string_view packed) {
    if (!packed.starts_with("\x28\xB5\x2F\xFD")) return std::string(packed);
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kMostBytes)
        return std::nullopt;
    std::string bytes(size, '\0');
    const std::size_t got = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
    return bytes;
}
#else
std::optional<std::string> unpack(std::string_view packed) {
    if (packed.size() > kMostBytes) return std::nullopt;
    return std::string(packed);
}
#endif

/// "sm_90a" -> 90; nothing else does.
std::optional<int> compute_capability(std::string_view architecture) {
    if (!architecture.starts_with("sm_")) return std::nullopt;
    architecture.remove_prefix(3);
    if (architecture.ends_with('a') || architecture.ends_with('f')) architecture.remove_suffix(1);
    int value = 0;
    const auto [end, error] =
        std::from_chars(architecture.data(), architecture.data() + architecture.size(), value);
    if (error != std::errc() || end != architecture.data() + architecture.size()) return std::nullopt;
    if (value < 10 || value > 999) return std::nullopt;
    return value;
}

/// Architectures whose image would run, best first.
std::vector<std::string> nvidia_candidates(std::string_view architecture, bool matrix) {
    const std::optional<int> asked = compute_capability(architecture);
    if (!asked) return {};
    std::vector<std::string> names;
    for (const int built : {120, 100, 90, 89, 80}) {
        // Same major version, same or older minor: binary compatible.
        if (built / 10 == *asked / 10 && built <= *asked) names.push_back("sm_" + std::to_string(built));
    }
    if (matrix && *asked >= 89) names.emplace_back("compute_89");
    if (!matrix && *asked >= 80) names.emplace_back("compute_80");
    return names;
}

std::vector<std::string> amd_candidates(std::string_view architecture) {
    const std::string name(architecture.substr(0, architecture.find(':')));
    std::vector<std::string> names{name};
    // What LLVM's gfx9-4-generic covers is gfx940 to gfx942 and gfx950; an unlisted sibling may load it too.
    if (name.starts_with("gfx94") || name.starts_with("gfx95")) names.emplace_back("gfx9-4-generic");
    return names;
}

/// Instructions of one architecture alone ("sm_90a") run on that one and on no later one.
std::vector<std::string> native_candidates(std::string_view architecture) {
    const std::optional<int> asked = compute_capability(architecture);
    if (!asked) return {};
    return {"sm_" + std::to_string(*asked) + "a"};
}

std::vector<std::string> candidates(Vendor vendor, std::string_view architecture, std::string_view source) {
    if (vendor == Vendor::amd) return amd_candidates(architecture);
    if (source == kNativeSource) return native_candidates(architecture);
    return nvidia_candidates(architecture, uses_matrix_units(source));
}

const std::vector<ImageRow>& rows() {
    static const std::vector<ImageRow> all = {
#define GPUCHECK_IMAGE(vendor, architecture, source, symbol)                                    \
    {Vendor::vendor,                                                                            \
     architecture,                                                                              \
     source,                                                                                    \
     std::string_view(symbol##_begin, static_cast<std::size_t>(symbol##_end - symbol##_begin)), \
     {}},
#define GPUCHECK_NO_IMAGE(vendor, architecture, source, obstacle) \
    {Vendor::vendor, architecture, source, {}, obstacle},
#include <image_rows.inc>
#undef GPUCHECK_IMAGE
#undef GPUCHECK_NO_IMAGE
    };
    return all;
}

const ImageRow* find_row(Vendor vendor, std::string_view architecture, std::string_view source) {
    const auto& all = rows();
    const auto row = std::find_if(all.begin(), all.end(), [&](const ImageRow& r) {
        return r.vendor == vendor && r.architecture == architecture && r.kernel_source == source;
    });
    return row != all.end() ? &*row : nullptr;
}

/// What the machine's own words would be for an image that nothing is known of.
std::string unknown_architecture(Vendor vendor, std::string_view architecture, std::string_view source) {
    std::string why =
        "no image of " + std::string(source) + " for " + std::string(architecture) + "; there is one for";
    for (const ImageRow& row : rows()) {
        if (row.vendor == vendor && row.kernel_source == source) why += " " + std::string(row.architecture);
    }
    return why;
}

}  // namespace

std::span<const ImageRow> all_images() {
    return rows();
}

Target target_of(Vendor vendor, std::string_view architecture) {
    if (vendor == Vendor::nvidia) {
        const std::optional<int> asked = compute_capability(architecture);
        if (!asked || *asked < 80) return Target::none;
        return *asked >= 89 ? Target::sm89 : Target::sm80;
    }
    const std::string_view name = architecture.substr(0, architecture.find(':'));
    if (name == "gfx90a") return Target::gfx90a;
    if (name == "gfx942") return Target::gfx942;
    if (name == "gfx950") return Target::gfx950;
    return Target::none;
}

Target native_target(std::string_view architecture) {
    const std::optional<int> asked = compute_capability(architecture);
    if (asked == 90) return Target::sm90;
    return asked == 120 ? Target::sm120 : Target::none;
}

Fact<Image> find_image(Vendor vendor, std::string_view architecture, std::string_view kernel_source) {
    const std::string source = "kernels/" + std::string(kernel_source) + ".gpu.cpp";
    std::string obstacle;
    for (const std::string& name : candidates(vendor, architecture, kernel_source)) {
        const ImageRow* row = find_row(vendor, name, kernel_source);
        if (row == nullptr) continue;
        if (row->packed.empty()) {
            if (obstacle.empty()) obstacle = row->obstacle;
            continue;
        }
        std::optional<std::string> bytes = unpack(row->packed);
        if (!bytes) return Missing{source, "the embedded image for " + name + " is damaged"};
        const Target target = kernel_source == kNativeSource     ? native_target(name)
                              : uses_matrix_units(kernel_source) ? target_of(vendor, architecture)
                                                                 : Target::none;
        return Fact<Image>(Image{std::move(*bytes), name, name.starts_with("compute_"), target}, source);
    }
    if (!obstacle.empty())
        return Missing{source, "no image for " + std::string(architecture) + ": " + obstacle};
    return Missing{source, unknown_architecture(vendor, architecture, kernel_source)};
}

}  // namespace gpucheck::kernels
