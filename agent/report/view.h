// What a report says, sorted for readers: the faults worst first, what was not looked at and why, each GPU's
// own verdict. All formats start from it, so that none of them can leave out a fault or an admission that
// another one shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/report/report.h"
#include "checks/specs/catalogue.h"

namespace gpucheck::report {

/// A finding that a reader must see, with its catalogue row resolved. Views into the report and the
/// catalogue.
struct Problem {
    std::string_view check, code;
    Verdict verdict = Verdict::unknown;  ///< warn, fail, or unknown of a check that the profile requires
    std::string_view subject, expected, observed, source;
    std::string_view title;             ///< one sentence
    const CatalogueRow* row = nullptr;  ///< nullptr: a code that this version has no row for
    Scope scope = Scope::unknown;
    std::uint64_t count = 1;
    std::string_view first, last;

    Action action() const { return row != nullptr ? row->action : Action::none; }
    std::string_view remedy() const {
        return row != nullptr ? std::string_view(row->remedy) : std::string_view();
    }
};

/// Something that was not judged and does not count: a check that does not apply, or an unknown that is not
/// required.
struct NotChecked {
    std::string_view check, code, subject;  ///< code and subject are empty for a whole check
    Verdict verdict = Verdict::unknown;     ///< not_applicable or unknown
    std::string reason;
};

/// How many GPUs, counted in three ways. Empty: could not be counted.
struct GpuCount {
    std::optional<unsigned> expected, pci, bound;
};

struct View {
    std::vector<Problem> problems;        ///< fail, then unknown, then warn; within each in report order
    std::vector<NotChecked> not_checked;  ///< in report order
    std::vector<Verdict> gpus;  ///< for each GPU of the snapshot; unknown when no check looked at it
    GpuCount count;
    std::size_t passed = 0, applied = 0;             ///< checks
    std::size_t fails = 0, warns = 0, unknowns = 0;  ///< problems
};

View view_of(const Report& report);

/// The driver that makes a GPU of this vendor usable for computing: "nvidia", "amdgpu".
std::string_view compute_driver(Vendor vendor);

/// Problems of one code and verdict, with the same advice, that differ only in what they are about.
struct Case {
    std::string_view expected, observed, source;
    std::vector<std::string_view> subjects;
};
struct Group {
    const Problem* head = nullptr;
    std::string_view title;  ///< the catalogue's where the members' own sentences differ
    std::vector<Case> cases;
    std::size_t subjects = 0;
    std::uint64_t count = 0;
    std::string_view first, last;
};
std::vector<Group> grouped(const std::vector<Problem>& problems);

}  // namespace gpucheck::report
