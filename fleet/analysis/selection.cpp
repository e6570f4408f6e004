// Newest first, each id once, rehearsals apart; see selection.h.
#include "fleet/analysis/selection.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "fleet/analysis/identity.h"

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
        // Of one second nobody knows which was the later: the worse speaks.
        if (left.verdict != right.verdict) return left.verdict > right.verdict;
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

/// The reports of one key, newest first, into the one that speaks and the others.
class Choice {
  public:
    Choice(const Fleet& fleet, const Policy& policy, const Clock& clock, const std::vector<std::size_t>& all,
           std::size_t first, std::size_t end)
        : fleet_(&fleet) {
        std::vector<std::size_t> timeless;
        std::size_t dated = end;
        std::vector<std::size_t> real;
        for (std::size_t each = first; each < end; ++each) {
            const NodeReport& report = fleet.reports[all[each]];
            const Excuse excuse = excuse_of(report, policy, clock);
            if (excuse.rule.empty()) real.push_back(all[each]);
            if (excuse.rule == "date") timeless.push_back(all[each]);
            if (dated == end && excuse.rule != "date") dated = each;
        }
        counts = !real.empty();
        const std::size_t speaks = counts ? real.front() : all[dated != end ? dated : first];
        result.report = speaks;
        for (std::size_t each = first; each < end; ++each) {
            if (all[each] != speaks) result.earlier.push_back(all[each]);
        }
        if (!counts) {
            const Excuse excuse = excuse_of(fleet.reports[speaks], policy, clock);
            say(excuse.rule, excuse.text);
        }
        for (const std::size_t each : timeless) {
            if (each != speaks) tell_undated(fleet.reports[each], clock.wrong(fleet.reports[each]));
        }
        if (counts) tell_strangers(real);
    }

    NodeResult result;
    bool counts = false;
    std::size_t undated = 0;  ///< reports beside the one that speaks

  private:
    void say(std::string rule, std::string text) {
        result.reasons.push_back({Decision::no_evidence, std::move(rule), std::move(text), -1});
    }
    /// A report of an unknown time may be the newest: what is bad in it is not outdone by a better one.
    void tell_undated(const NodeReport& report, const std::string& wrong) {
        ++undated;
        if (report.verdict > fleet_->reports[result.report].verdict)
            say("date", "another report of it ends with " + std::string(gpucheck::name_of(report.verdict)) +
                            ", and " + wrong + ": nobody knows which of the two is newer");
    }
    void tell_strangers(const std::vector<std::size_t>& real) {
        for (std::size_t each = 1; each < real.size(); ++each) {
            const NodeReport &newer = fleet_->reports[real[each - 1]], &older = fleet_->reports[real[each]];
            if (!strangers(newer, older)) continue;
            return say("two machines",
                       "two machines share its name, or its hardware was exchanged: its reports of " +
                           older.created + " and " + newer.created +
                           " have no GPU in common; leave the older out if it was exchanged");
        }
    }

    const Fleet* fleet_;
};

}  // namespace

Selection select_reports(const Fleet& fleet, const Policy& policy) {
    Selection selection;
    const Order order(fleet);
    std::vector<std::size_t> all = distinct(fleet, order, selection.notes);
    const Clock clock(fleet, policy);
    const auto key = [&](std::size_t index) -> const std::string& {
        const NodeReport& report = fleet.reports[index];
        return report.key.empty() ? report.node : report.key;
    };
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
        const int by_key = key(a).compare(key(b));
        return by_key != 0 ? by_key < 0 : order.newer(a, b);
    });
    std::vector<Choice> chosen;
    std::size_t undated = 0;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first;
        while (end < all.size() && key(all[end]) == key(all[first])) ++end;
        chosen.emplace_back(fleet, policy, clock, all, first, end);
        undated += chosen.back().undated;
        first = end;
    }
    if (undated != 0)
        selection.notes.push_back(std::to_string(undated) +
                                  (undated == 1 ? " report has a date" : " reports have dates") +
                                  " that cannot be believed, beside others of the same nodes that speak");
    std::sort(chosen.begin(), chosen.end(), [&](const Choice& a, const Choice& b) {
        const int by_name = fleet.reports[a.result.report].node.compare(fleet.reports[b.result.report].node);
        return by_name != 0 ? by_name < 0 : key(a.result.report) < key(b.result.report);
    });
    for (Choice& node : chosen) {
        selection.nodes.push_back(std::move(node.result));
        selection.counts.push_back(node.counts);
    }
    return selection;
}

}  // namespace gpucheck::fleet
