// The only file that sees spdlog, header-only: Debian's shared library has another soname on every release.
#include "agent/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace gpucheck {
namespace {

spdlog::logger& logger() {
    static const std::shared_ptr<spdlog::logger> instance = [] {
        auto made =
            std::make_shared<spdlog::logger>("gpucheck", std::make_shared<spdlog::sinks::stderr_sink_st>());
        made->set_pattern("gpucheck: %l: %v");
        made->set_level(spdlog::level::warn);
        return made;
    }();
    return *instance;
}

}  // namespace

void set_log_level(const std::string& level) {
    logger().set_level(spdlog::level::from_str(level == "error" ? "err" : level));
}
void log_debug(std::string_view message) {
    logger().debug("{}", message);
}
void log_info(std::string_view message) {
    logger().info("{}", message);
}
void log_warn(std::string_view message) {
    logger().warn("{}", message);
}
void log_error(std::string_view message) {
    logger().error("{}", message);
}

}  // namespace gpucheck
