// The page's own style and scripts as they were built in, each with the hash by which a browser lets it run:
// nothing else in the page may.
#pragma once

#include <string_view>
#include <vector>

namespace gpucheck::fleet {

struct Script {
    std::string_view text;
    std::string_view sha256;  ///< base64, of exactly these bytes (CSP Level 3, 6.7.2.3)
};

std::string_view page_shell();
Script page_style();
/// In the order in which they run; Chart.js first where the build found it.
std::vector<Script> page_scripts();

}  // namespace gpucheck::fleet
