// Words for numbers; see words.h.
#include "fleet/show/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "agent/report/escape.h"

namespace gpucheck::fleet {
namespace {

template <class Number>
std::string printed(const char* format, Number value) {
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

std::string node_name(std::string_view name) {
    // What is blank in Unicode (its White_Space property, and the two that look like it) beside the space.
    constexpr std::array<std::string_view, 20> kBlanks{" ",
                                                       "\xc2\xa0",
                                                       "\xe1\x9a\x80",
                                                       "\xe2\x80\x80",
                                                       "\xe2\x80\x81",
                                                       "\xe2\x80\x82",
                                                       "\xe2\x80\x83",
                                                       "\xe2\x80\x84",
                                                       "\xe2\x80\x85",
                                                       "\xe2\x80\x86",
                                                       "\xe2\x80\x87",
                                                       "\xe2\x80\x88",
                                                       "\xe2\x80\x89",
                                                       "\xe2\x80\x8a",
                                                       "\xe2\x80\xaf",
                                                       "\xe2\x81\x9f",
                                                       "\xe3\x80\x80",
                                                       "\xe2\xa0\x80",
                                                       "\xe3\x85\xa4",
                                                       "\xef\xbe\xa0"};
    const bool hidden =
        name.empty() || std::any_of(kBlanks.begin(), kBlanks.end(), [&](std::string_view blank) {
            return name.starts_with(blank) || name.ends_with(blank);
        });
    if (!hidden) return report::plain(name);
    std::string text = "\"";
    for (std::size_t at = 0; at < name.size();) {
        const auto blank = std::find_if(kBlanks.begin(), kBlanks.end(), [&](std::string_view each) {
            return name.substr(at).starts_with(each);
        });
        if (blank == kBlanks.end()) {
            text += name[at++];
            continue;
        }
        for (const char byte : *blank) text += printed("\\x%02x", static_cast<unsigned char>(byte));
        at += blank->size();
    }
    return report::plain(text + "\"");
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
