// Compiles the event catalogue; see rules.h.
#include "agent/host/kernel_log/rules.h"

#include <algorithm>

namespace gpucheck::host {

const Rules& Rules::get() {
    static const Rules rules;
    return rules;
}

int Rules::incident_number(std::string_view name) const {
    const std::vector<IncidentRow>& incidents = event_book().incidents;
    for (std::size_t i = 0; i < incidents.size(); ++i) {
        if (incidents[i].name == name) return static_cast<int>(i);
    }
    return -1;
}

std::uint16_t Rules::row_of(std::string_view code) const {
    const std::vector<EventRow>& rows = event_book().rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].catalogue.code == code) return static_cast<std::uint16_t>(i);
    }
    return 0;
}

// A rule whose literal text holds no anchor brings its own: no rule can be missed because the list of anchors
// is short.
void Rules::anchor(const Pattern& pattern, std::string_view require) {
    const std::string_view literal = pattern.longest_literal();
    for (const std::string& known : anchors) {
        if (pattern.says(known) || require.find(known) != std::string_view::npos) return;
    }
    constexpr std::size_t kLongEnough = 20;
    const std::string_view own = literal.size() > kLongEnough ? literal.substr(0, kLongEnough) : literal;
    if (own.size() < Prefilter::kWindow) {
        ++rejected;
    } else {
        anchors.emplace_back(own);
    }
}

void Rules::add(std::uint16_t row, Part part, const std::vector<std::string>& texts) {
    const EventRow& event = event_book().rows[row];
    for (const std::string& text : texts) {
        std::optional<Pattern> pattern = Pattern::compile(text, event.ignore_case);
        if (!pattern) {
            ++rejected;
            continue;
        }
        if (event.ignore_case) {
            // The anchors are compared byte for byte, so such a rule rests on what its line must hold
            // besides.
            anchor(*Pattern::compile(event.require.empty() ? "amdgpu" : event.require, false), {});
        } else {
            anchor(*pattern, event.require);
        }
        rules.push_back({row, part, std::move(*pattern)});
    }
}

// Each rule is filed under one pair of bytes that its lines must hold, spread so that few rules share one.
void Rules::index_rules() {
    if (rules.size() > kRuleWords * 64) rejected += rules.size() - kRuleWords * 64;
    std::array<std::uint16_t, 4096> load{};
    groups_.resize(1);
    for (std::size_t i = 0; i < rules.size() && i < kRuleWords * 64; ++i) {
        const std::vector<std::uint16_t>& pairs = rules[i].pattern.pairs();
        std::uint16_t key = pairs.front();
        for (std::size_t k = 1; k < pairs.size() && k < 8; ++k) {
            if (load[pairs[k]] < load[key]) key = pairs[k];
        }
        ++load[key];
        if (group_of_[key] == 0) {
            group_of_[key] = static_cast<std::uint16_t>(groups_.size());
            groups_.emplace_back();
        }
        groups_[group_of_[key]][i / 64] |= std::uint64_t{1} << (i % 64);
        keys_[key >> 6U] |= std::uint64_t{1} << (key & 63U);
    }
}

Rules::Rules() {
    const EventBook& book = event_book();
    rejected = book.rejected;
    anchors = book.anchors;
    for (const IncidentRow& incident : book.incidents) windows_.push_back(incident.window_s);
    xid_other = row_of("xid.other");
    xid_unparsed = row_of("xid.unparsed");
    sxid_fatal = row_of("sxid.fatal");
    sxid_nonfatal = row_of("sxid.nonfatal");
    sxid_unparsed = row_of("sxid.unparsed");
    fabric_error = row_of("fabricmanager.error");
    xid_rows_.fill(xid_other);
    const int ecc = incident_number("nvidia.ecc");
    const int gsp = incident_number("nvidia.gsp");
    const int down = incident_number("nvidia.down");
    for (std::size_t i = 0; i < book.rows.size(); ++i) {
        const EventRow& row = book.rows[i];
        const auto index = static_cast<std::uint16_t>(i);
        int incident = incident_number(row.incident);
        if (row.xid != 0 && row.xid < xid_rows_.size()) xid_rows_[row.xid] = index;
        switch (row.xid) {
            case 48:
            case 63:
            case 64:
            case 94:
            case 95:
            case 140:
            case 171:
            case 172:
                incident = ecc;
                break;
            case 119:
            case 120:
                incident = gsp;
                break;
            case 79:
                incident = down;
                break;
            default:
                break;
        }
        if (!row.incident.empty() && incident < 0) ++rejected;
        incidents_.push_back(incident);
        add(index, Part::report, row.match);
        add(index, Part::detail, row.detail);
        add(index, Part::hint, row.hint);
    }
    index_rules();
    for (std::size_t i = 0; i < book.recoveries.size(); ++i) {
        const RecoveryRow& row = book.recoveries[i];
        for (const std::string& text : row.match) {
            std::optional<Pattern> pattern = Pattern::compile(text, false);
            if (!pattern) {
                ++rejected;
                continue;
            }
            anchor(*pattern, row.require);
            RecoveryRule rule{static_cast<std::uint16_t>(i), 0, -1, std::move(*pattern)};
            for (const std::string& name : row.incidents) {
                const int incident = incident_number(name);
                incident < 0 ? void(++rejected)
                             : void(rule.incidents |= 1U << static_cast<unsigned>(incident));
            }
            if (!row.counts_as.empty()) rule.counts_as = row_of(row.counts_as);
            recoveries.push_back(std::move(rule));
        }
    }
    for (const std::string& text : book.contexts) {
        std::optional<Pattern> pattern = Pattern::compile(text, false);
        pattern ? contexts.push_back(std::move(*pattern)) : void(++rejected);
    }
}

const Prefilter& anchor_filter() {
    static const Prefilter filter(Rules::get().anchors);
    return filter;
}

}  // namespace gpucheck::host
