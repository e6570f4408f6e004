// Words for numbers; see words.h.
#include "fleet/show/words.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace gpucheck::fleet {
namespace {

std::string printed(const char* format, double value) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

}  // namespace

std::string_view shout(Decision decision) {
    switch (decision) {
        case Decision::accept:
            return "ACCEPT";
        case Decision::quarantine:
            return "QUARANTINE";
        case Decision::reject:
            return "REJECT";
        case Decision::no_evidence:
            return "NOT ENOUGH EVIDENCE";
    }
    return "NOT ENOUGH EVIDENCE";
}

std::string coloured(std::string_view text, Decision decision, bool colour) {
    if (!colour) return std::string(text);
    const std::string_view code = decision == Decision::accept   ? "\x1b[32m"
                                  : decision == Decision::reject ? "\x1b[31m"
                                                                 : "\x1b[33m";
    return std::string(code) + std::string(text) + "\x1b[0m";
}

std::string figure(double value) {
    if (!std::isfinite(value)) return "-";
    const double size = std::fabs(value);
    if (size >= 1000 && size < 1e7) return printed("%.0f", value);
    return printed("%.4g", value);
}

std::string percent(double share) {
    return std::isfinite(share) ? printed("%.1f %%", share * 100) : "-";
}

std::string chance(double p) {
    return p < 1e-12 ? "< 1e-12" : printed("%.2g", p);
}

std::string_view against_words(Against against) {
    switch (against) {
        case Against::gpus:
            return "all GPUs";
        case Against::nodes:
            return "other nodes";
        case Against::own_node:
            return "its own node";
    }
    return "all GPUs";
}

}  // namespace gpucheck::fleet
