// Newest first, each id once, rehearsals apart; see selection.h.
#include "fleet/analysis/selection.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace gpucheck::fleet {
namespace {

/// FNV-1a over what a report says: tells copies from contradictions, and decides ties by content and never by
/// the order of input.
class Digest {
  public:
    void add(std::string_view text) {
        for (const char byte : text) step(static_cast<unsigned char>(byte));
        step(0);
    }
    void add(std::uint32_t number) {
        for (int shift = 0; shift < 32; shift += 8) step(static_cast<unsigned char>(number >> shift));
    }
    void add(float value) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        add(bits);
    }
    std::uint64_t value() const { return value_; }

  private:
    void step(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3U; }
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

std::uint64_t digest_of(const Fleet& fleet, const NodeReport& report) {
    Digest digest;
    const auto text = [&](Name name) { digest.add(std::string_view(fleet.names.text(name))); };
    for (const std::string* each :
         {&report.node, &report.key, &report.report_id, &report.created, &report.boot_id})
        digest.add(std::string_view(*each));
    for (const Name name : {report.provider, report.instance_type, report.region, report.zone, report.driver,
                            report.kernel, report.os, report.tool_version, report.profile})
        text(name);
    for (const auto& [name, value] : report.labels) text(name), text(value);
    digest.add(static_cast<std::uint32_t>(report.verdict));
    digest.add(std::uint32_t{report.simulated} | std::uint32_t{report.injected} << 1U);
    digest.add(static_cast<std::uint32_t>(report.gpus_expected));
    digest.add(static_cast<std::uint32_t>(report.gpus_found));
    digest.add(static_cast<std::uint32_t>(report.gpus_bound));
    digest.add(report.usd_per_hour);
    for (const Gpu& gpu : report.gpus) {
        for (const Name name : {gpu.bdf, gpu.board, gpu.firmware, gpu.mode}) text(name);
        digest.add(gpu.memory_gib);
        digest.add(std::uint32_t{gpu.link_width} | std::uint32_t{gpu.link_generation} << 8U |
                   std::uint32_t{gpu.link_generation_rest} << 16U);
        digest.add(std::string_view(gpu.identity));
        digest.add(static_cast<std::uint32_t>(gpu.verdict));
        for (const Value& value : gpu.values) text(value.metric), digest.add(value.value);
    }
    for (const Problem& problem : report.problems) {
        text(problem.code), text(problem.subject), text(problem.scope);
        digest.add(static_cast<std::uint32_t>(problem.verdict));
    }
    return digest.value();
}

/// Chooses among reports without looking at their place in the input.
class Order {
  public:
    explicit Order(const Fleet& fleet) : fleet_(fleet) {}

    /// `a` is newer than `b`.
    bool newer(std::size_t a, std::size_t b) const {
        const NodeReport &left = fleet_.reports[a], &right = fleet_.reports[b];
        if (const int by_time = left.created.compare(right.created); by_time != 0) return by_time > 0;
        if (const int by_id = left.report_id.compare(right.report_id); by_id != 0) return by_id > 0;
        return digest_of(fleet_, left) > digest_of(fleet_, right);
    }
    /// Of two reports with one id: the one whose signature was checked, then the worse, then by content.
    bool rather(std::size_t a, std::size_t b) const {
        const NodeReport &left = fleet_.reports[a], &right = fleet_.reports[b];
        if (left.verified != right.verified) return left.verified;
        if (left.verdict != right.verdict) return left.verdict > right.verdict;
        return digest_of(fleet_, left) > digest_of(fleet_, right);
    }
    bool differ(std::size_t a, std::size_t b) const {
        return digest_of(fleet_, fleet_.reports[a]) != digest_of(fleet_, fleet_.reports[b]);
    }

  private:
    const Fleet& fleet_;
};

/// Every report once, and what was said twice in two ways.
std::vector<std::size_t> distinct(const Fleet& fleet, const Order& order, std::vector<std::string>& notes) {
    std::unordered_map<std::string_view, std::size_t> by_id;
    std::vector<std::string> contradictions;
    std::vector<std::size_t> kept;
    for (std::size_t index = 0; index < fleet.reports.size(); ++index) {
        const std::string& id = fleet.reports[index].report_id;
        if (id.empty()) {
            kept.push_back(index);
            continue;
        }
        const auto [known, fresh] = by_id.emplace(id, index);
        if (fresh) continue;
        if (order.differ(index, known->second)) contradictions.push_back(id);
        if (order.rather(index, known->second)) known->second = index;
    }
    for (const auto& [id, index] : by_id) kept.push_back(index);
    std::sort(contradictions.begin(), contradictions.end());
    contradictions.erase(std::unique(contradictions.begin(), contradictions.end()), contradictions.end());
    if (!contradictions.empty())
        notes.push_back(std::to_string(contradictions.size()) +
                        " report ids stand on reports that differ, such as " + contradictions.front() +
                        ": the worse of them counts");
    return kept;
}

/// Why a report is no evidence about hardware; empty: it is.
struct Excuse {
    std::string rule, text;
};

Excuse excuse_of(const NodeReport& report, const Policy& policy, std::optional<double> newest_s) {
    if (report.simulated)
        return {"simulated",
                "its report is of a recorded machine or fake drivers: it says nothing about this hardware"};
    if (report.injected)
        return {"injected", "a fault was injected on purpose: a rehearsal says nothing about this hardware"};
    if (!policy.accept_unverified && !report.verified)
        return {"unverified",
                "its signature was not checked against a trusted key, which the policy demands"};
    if (policy.max_age_hours <= 0) return {};
    const auto created_s = seconds_of(report.created);
    if (!created_s || !newest_s)
        return {"stale", "its time '" + report.created + "' cannot be read, and the policy limits the age"};
    const double hours = (*newest_s - *created_s) / 3600;
    if (hours <= policy.max_age_hours) return {};
    return {"stale", "its report is " + std::to_string(static_cast<long long>(hours)) +
                         " hours older than the newest of the fleet; the policy allows " +
                         std::to_string(static_cast<long long>(policy.max_age_hours))};
}

}  // namespace

std::optional<double> seconds_of(const std::string& time) {
    // "2026-11-30T21:44:06Z", "2026-11-30T21:44:06.5+01:00"
    constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
    if (time.size() < kShape.size() + 1 || time.size() > 40) return std::nullopt;
    const auto digit = [&](std::size_t at) { return time[at] >= '0' && time[at] <= '9'; };
    for (std::size_t at = 0; at < kShape.size(); ++at) {
        if (kShape[at] == 'd' ? !digit(at) : time[at] != kShape[at]) return std::nullopt;
    }
    const auto number = [&](std::size_t at, std::size_t digits) {
        int value = 0;
        for (std::size_t i = 0; i < digits; ++i) value = value * 10 + (time[at + i] - '0');
        return value;
    };
    std::size_t at = kShape.size();
    double fraction = 0;
    if (time[at] == '.') {
        for (double scale = 0.1; ++at < time.size() && digit(at); scale /= 10)
            fraction += scale * (time[at] - '0');
    }
    double offset_s = 0;
    if (at + 6 == time.size() && (time[at] == '+' || time[at] == '-') && digit(at + 1) && digit(at + 2) &&
        time[at + 3] == ':' && digit(at + 4) && digit(at + 5)) {
        offset_s = (time[at] == '+' ? 60.0 : -60.0) * (number(at + 1, 2) * 60 + number(at + 4, 2));
    } else if (at + 1 != time.size() || time[at] != 'Z') {
        return std::nullopt;
    }
    const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
    if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
    // Days since 1970 in the proleptic Gregorian calendar: years begin in March, so that leap days come last.
    const int y = month <= 2 ? year - 1 : year;
    const int era_day = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const double days = 365.0 * y + y / 4 - y / 100 + y / 400 + era_day - 719468;
    return days * 86400 + number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2) + fraction - offset_s;
}

Selection select_reports(const Fleet& fleet, const Policy& policy) {
    Selection selection;
    const Order order(fleet);
    std::vector<std::size_t> all = distinct(fleet, order, selection.notes);
    std::optional<double> newest_s;
    for (const std::size_t index : all) {
        const auto created_s = seconds_of(fleet.reports[index].created);
        if (created_s && (!newest_s || *created_s > *newest_s)) newest_s = created_s;
    }
    const auto key = [&](std::size_t index) -> const std::string& {
        const NodeReport& report = fleet.reports[index];
        return report.key.empty() ? report.node : report.key;
    };
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
        const int by_key = key(a).compare(key(b));
        return by_key != 0 ? by_key < 0 : order.newer(a, b);
    });
    struct Chosen {
        NodeResult result;
        bool counts;
    };
    std::vector<Chosen> chosen;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first;
        while (end < all.size() && key(all[end]) == key(all[first])) ++end;
        std::size_t speaks = end;
        for (std::size_t each = first; each < end && speaks == end; ++each) {
            if (excuse_of(fleet.reports[all[each]], policy, newest_s).rule.empty()) speaks = each;
        }
        Chosen node{{}, speaks != end};
        if (speaks == end) {
            speaks = first;
            const Excuse excuse = excuse_of(fleet.reports[all[first]], policy, newest_s);
            node.result.reasons.push_back({Decision::no_evidence, excuse.rule, excuse.text, -1});
        }
        node.result.report = all[speaks];
        for (std::size_t each = first; each < end; ++each) {
            if (each != speaks) node.result.earlier.push_back(all[each]);
        }
        chosen.push_back(std::move(node));
        first = end;
    }
    std::sort(chosen.begin(), chosen.end(), [&](const Chosen& a, const Chosen& b) {
        const int by_name = fleet.reports[a.result.report].node.compare(fleet.reports[b.result.report].node);
        return by_name != 0 ? by_name < 0 : key(a.result.report) < key(b.result.report);
    });
    for (Chosen& node : chosen) {
        selection.nodes.push_back(std::move(node.result));
        selection.counts.push_back(node.counts);
    }
    return selection;
}

}  // namespace gpucheck::fleet
