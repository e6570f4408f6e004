// GET /metrics: what an alert needs to know of the receiver and of the fleet, in Prometheus' text format
// 0.0.4. Whatever could grow with the fleet (node names) is not in it.
#include <cstdio>

#include "fleet/analysis/files.h"
#include "fleet/collect/routes.h"

namespace gpucheck::fleet::collect {
namespace {

class Text {
  public:
    void family(const char* name, const char* type, const char* help) {
        name_ = std::string("gpucheck_fleet_") + name;
        text += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
    }
    void value(const std::string& labels, double number) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.15g", number);
        text += name_ + labels + " " + digits + "\n";
    }
    void one(const char* name, const char* type, const char* help, double number) {
        family(name, type, help);
        value({}, number);
    }
    std::string text;

  private:
    std::string name_;
};

std::string label(const char* name, std::string_view value) {
    return std::string("{") + name + "=\"" + std::string(value) + "\"}";
}

void of_receiver(Text& out, const Writer::Numbers& writer, const HttpNumbers& http) {
    out.one("connections", "gauge", "Open connections.", static_cast<double>(http.connections));
    out.one("connections_accepted_total", "counter", "Connections that were accepted.",
            static_cast<double>(http.accepted));
    out.one("connections_evicted_total", "counter", "Idle or slow connections that were closed to make room.",
            static_cast<double>(http.evicted));
    out.one("timeouts_total", "counter", "Connections that were closed because the other side was too slow.",
            static_cast<double>(http.timed_out));
    out.one("writer_queue_reports", "gauge", "Reports that wait to be stored.",
            static_cast<double>(writer.waiting));
    out.one("commits_total", "counter", "Transactions with reports.", static_cast<double>(writer.commits));
    out.one("commit_seconds_total", "counter", "Seconds that these transactions took.", writer.commit_s);
    out.one("reports_committed_total", "counter",
            "Reports in these transactions, also ones that were there before.",
            static_cast<double>(writer.written));
    out.one("store_failures_total", "counter", "Transactions that failed.",
            static_cast<double>(writer.failed));
    out.one("reports_forgotten_total", "counter", "Reports that retention removed.",
            static_cast<double>(writer.forgotten));
}

}  // namespace

std::string Routes::metrics() {
    Text out;
    out.family("http_answers_total", "counter", "Answers by status; 0: the request broke off.");
    for (std::size_t status = 0; status < statuses_.size(); ++status)
        if (const std::uint64_t count = statuses_[status]; count > 0)
            out.value(label("status", std::to_string(status)), static_cast<double>(count));
    of_receiver(out, writer_.numbers(), http_numbers_ ? http_numbers_() : HttpNumbers{});
    out.one("bodies_bytes", "gauge", "Memory set aside for reports on their way.",
            static_cast<double>(memory_.load()));
    const auto counted = store_.counts();
    if (const auto* counts = std::get_if<Store::Counts>(&counted)) {
        out.family("reports", "gauge", "Stored reports by verdict.");
        for (const auto& [verdict, count] : counts->verdicts)
            out.value(label("verdict", verdict), static_cast<double>(count));
    }
    // What the reader sees counts, too: nobody may have tried to write since.
    const auto* unread = std::get_if<SqlError>(&counted);
    const StoreFault fault = unread != nullptr ? unread->fault : writer_.numbers().fault;
    out.family("store_fault", "gauge", "1 for what was wrong with the store at the last try.");
    for (const StoreFault each :
         {StoreFault::other, StoreFault::unreachable, StoreFault::busy, StoreFault::full,
          StoreFault::read_only, StoreFault::replaced, StoreFault::corrupted})
        out.value(label("kind", name_of(each)), each == fault ? 1 : 0);
    out.one("store_readable", "gauge", "1 when the store could be read for this answer.",
            std::holds_alternative<Store::Counts>(counted) ? 1 : 0);
    if (const auto view = live_.last()) {
        const auto age = std::chrono::steady_clock::now() - view->made;
        out.family("nodes", "gauge", "Nodes by decision when the fleet was last looked at.");
        for (const auto& [decision, count] : view->decisions)
            out.value(label("decision", name_of(decision)), static_cast<double>(count));
        out.one("view_age_seconds", "gauge", "Since the fleet was last looked at.",
                std::chrono::duration<double>(age).count());
        out.one("view_seconds", "gauge", "How long that took.", view->seconds);
    }
    return out.text;
}

}  // namespace gpucheck::fleet::collect
