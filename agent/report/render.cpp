// Names of the formats and the way to their files; see render.h.
#include "agent/report/render.h"

#include <array>

namespace gpucheck::report {
namespace {

constexpr std::array<std::string_view, 6> kNames{"text", "json", "junit", "prometheus", "nagios", "html"};

}  // namespace

std::string_view name_of(Format format) {
    const auto index = static_cast<std::size_t>(format);
    return index < kNames.size() ? kNames[index] : "invalid";
}

std::optional<Format> format_from(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name) return static_cast<Format>(i);
    }
    return std::nullopt;
}

std::string render(const Report& report, Format format, const RenderOptions& options) {
    switch (format) {
        case Format::text:
            return render_text(report, options);
        case Format::json:
            return render_json(report);
        case Format::junit:
            return render_junit(report);
        case Format::prometheus:
            return render_prometheus(report);
        case Format::nagios:
            return render_nagios(report);
        case Format::html:
            return render_html(report);
    }
    return render_text(report, options);
}

}  // namespace gpucheck::report
