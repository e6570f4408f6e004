// What a code means, without a network and without this project's web pages: the person who sees it at 3 a.m.
// has a serial console.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/check.h"

namespace gpucheck::report {

struct ExplainOptions {
    bool json = false;
    bool colour = false;  ///< text only
    std::size_t width = 100;
};

struct Explanation {
    bool found = false;  ///< false: nothing has this name; `text` tells near ones
    std::string text;
};

/// `subject` is a code ("pcie.link.narrow"), the id of one of `checks`, the beginning of codes ("pcie"), or
/// empty for the list of all codes and checks.
Explanation render_explain(std::string_view subject, const std::vector<Check>& checks,
                           const ExplainOptions& options = {});

/// Names among `known` that somebody who typed `typed` may have meant, best first, at most five.
std::vector<std::string_view> near_names(std::string_view typed, const std::vector<std::string_view>& known);

}  // namespace gpucheck::report
