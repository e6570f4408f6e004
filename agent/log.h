// The log of the program itself, on standard error; data goes to standard output.
#pragma once

#include <string>
#include <string_view>

namespace gpucheck {

/// "debug", "info", "warn", "error", "off".
void set_log_level(const std::string& level);
void log_debug(std::string_view message);
void log_info(std::string_view message);
void log_warn(std::string_view message);
void log_error(std::string_view message);

}  // namespace gpucheck
