// What a check says about one subject: a permanent code, a verdict, and the two values that were compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/model/bdf.h"
#include "checks/model/verdict.h"

namespace gpucheck {

/// What a finding is about: "host", a PCI address, or a path such as "/dev/kfd".
struct Subject {
    std::string id = "host";

    Subject() = default;
    Subject(std::string text) : id(std::move(text)) {}  // NOLINT: subjects read as their text
    Subject(const char* text) : id(text) {}             // NOLINT
    Subject(const Bdf& bdf) : id(bdf.str()) {}          // NOLINT
    bool operator==(const Subject&) const = default;
};

/// `code` points to a literal. For warn, fail and unknown it is a row of catalogue.json; for pass and
/// not_applicable it is the id of the check.
struct Finding {
    std::string_view code;
    Verdict verdict = Verdict::unknown;
    Subject subject;
    std::string expected, observed;
    std::string source;          ///< file, counter or document the observation came from
    std::optional<Scope> scope;  ///< overrides the catalogue's when the facts tell who can mend it
    std::string message;         ///< overrides the catalogue's title where the case needs its own sentence
    std::uint64_t count = 1;     ///< occurrences folded into it
    std::string first = {},
                last = {};  ///< RFC 3339 UTC of the first and the last one; empty: the source does not tell
};

using Findings = std::vector<Finding>;

/// The usual way to write one; set `scope` or `message` afterwards where the case needs it.
inline Finding finding(std::string_view code, Verdict verdict, Subject subject, std::string expected,
                       std::string observed, std::string source) {
    return Finding{
        code, verdict, std::move(subject), std::move(expected), std::move(observed), std::move(source),
        {},   {}};
}

}  // namespace gpucheck
