// One report in the form that its reader understands: a person at a terminal, a program, a CI server, a
// monitoring system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/report/exit_status.h"
#include "agent/report/report.h"

namespace gpucheck::report {

enum class Format : std::uint8_t { text, json, junit, prometheus, nagios, html };
std::string_view name_of(Format format);
std::optional<Format> format_from(std::string_view name);

struct RenderOptions {
    bool colour = false;      ///< ANSI colours, text only; the caller knows about terminals and NO_COLOR
    std::size_t width = 100;  ///< columns, text only; 80 to 120 give whole lines
    ExitMap exit_map = ExitMap::standard;  ///< for the hint at the end of the text
};

/// The same report gives the same bytes. Every format ends with a newline.
std::string render(const Report& report, Format format, const RenderOptions& options = {});

std::string render_text(const Report& report, const RenderOptions& options);
std::string render_json(const Report& report);
std::string render_junit(const Report& report);
std::string render_prometheus(const Report& report);
std::string render_nagios(const Report& report);
std::string render_html(const Report& report);

}  // namespace gpucheck::report
