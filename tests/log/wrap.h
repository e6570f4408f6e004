// Dresses kernel messages in every container that people paste, so that one table of messages tests all of
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpucheck::host {

/// Names of the containers.
const std::vector<std::string>& containers();
/// `messages` as a log in that container, one second apart unless `step_us` says otherwise; they start 100 s
/// after boot.
std::string wrap(std::string_view container, const std::vector<std::string>& messages, long step_us = 1000);

}  // namespace gpucheck::host
