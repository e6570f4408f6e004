// The event catalogue made ready to run: patterns compiled, incidents numbered, anchors collected.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/kernel_log/pattern.h"
#include "agent/host/kernel_log/prefilter.h"
#include "checks/specs/events.h"

namespace gpucheck::host {

/// What a matching line is to its event.
enum class Part : std::uint8_t { report, detail, hint };

struct Rule {
    std::uint16_t row = 0;  ///< index into event_book().rows
    Part part = Part::report;
    Pattern pattern;
};

struct RecoveryRule {
    std::uint16_t recovery = 0;   ///< index into event_book().recoveries
    std::uint32_t incidents = 0;  ///< bit set of incident numbers
    std::int32_t counts_as = -1;  ///< row that the line also is a detail of
    Pattern pattern;
};

class Rules {
  public:
    static const Rules& get();

    const EventRow& row(std::uint16_t index) const { return event_book().rows[index]; }
    /// Incident number of a row; -1 none.
    int incident_of(std::uint16_t row) const { return incidents_[row]; }
    unsigned window_s(int incident) const { return windows_[static_cast<std::size_t>(incident)]; }
    /// Row of an Xid number: its own, or that of "xid.other".
    std::uint16_t xid_row(unsigned number) const {
        return number < xid_rows_.size() ? xid_rows_[number] : xid_other;
    }

    std::vector<Rule> rules;
    /// Calls `visit` with the index of each rule that the line may match, in order, until it returns true.
    template <class Visit>
    void each_candidate(const LineFilter& filter, Visit visit) const {
        std::array<std::uint64_t, kRuleWords> found{};
        for (std::size_t word = 0; word < LineFilter::kWords; ++word) {
            for (std::uint64_t left = filter.bits()[word] & keys_[word]; left != 0; left &= left - 1) {
                const std::size_t pair = word * 64 + static_cast<std::size_t>(__builtin_ctzll(left));
                const auto& group = groups_[group_of_[pair]];
                for (std::size_t i = 0; i < kRuleWords; ++i) found[i] |= group[i];
            }
        }
        for (std::size_t i = 0; i < kRuleWords; ++i) {
            for (std::uint64_t left = found[i]; left != 0; left &= left - 1) {
                if (visit(i * 64 + static_cast<std::size_t>(__builtin_ctzll(left)))) return;
            }
        }
    }
    std::vector<RecoveryRule> recoveries;
    std::vector<Pattern> contexts;
    std::vector<std::string> anchors;  ///< every rule's lines hold at least one
    std::size_t rejected = 0;          ///< patterns that do not compile; a test demands 0
    std::uint16_t xid_other = 0, xid_unparsed = 0, sxid_fatal = 0, sxid_nonfatal = 0, sxid_unparsed = 0,
                  fabric_error = 0;

  private:
    static constexpr std::size_t kRuleWords = 8;  ///< room for 512 rules

    Rules();
    void index_rules();
    std::vector<int> incidents_;
    std::vector<unsigned> windows_;
    std::array<std::uint16_t, 256> xid_rows_{};
    LineFilter::Bits keys_{};                     ///< pairs that are the key of some rule
    std::array<std::uint16_t, 4096> group_of_{};  ///< pair -> its rules
    std::vector<std::array<std::uint64_t, kRuleWords>> groups_;

    int incident_number(std::string_view name) const;
    std::uint16_t row_of(std::string_view code) const;
    void add(std::uint16_t row, Part part, const std::vector<std::string>& texts);
    void anchor(const Pattern& pattern, std::string_view require);
};

/// The prefilter over all anchors.
const Prefilter& anchor_filter();

}  // namespace gpucheck::host
