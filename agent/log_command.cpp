// Renders the events of a log; see log_command.h. Evidence is the words of strangers: nothing in it reaches
// the terminal as a control byte.
#include "agent/log_command.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "agent/host/kernel_log/line.h"
#include "agent/host/kernel_log/read.h"
#include "agent/report/exit_status.h"
#include "checks/json/json.h"
#include "checks/model/bdf.h"
#include "checks/specs/catalogue.h"

namespace gpucheck {
namespace {

int exit_status(Verdict verdict) {
    return verdict == Verdict::fail ? 1 : verdict == Verdict::unknown ? 2 : 0;
}

std::string title_of(const LogEvent& event) {
    const CatalogueRow* row = catalogue_row(event.code);
    return row != nullptr ? row->title : event.code;
}

std::string remedy_of(const LogEvent& event) {
    const CatalogueRow* row = catalogue_row(event.code);
    return row != nullptr ? row->remedy : std::string();
}

// Events of one card, whatever function a line named; those without an address may be its own.
void keep_gpu(LogSummary& summary, const Bdf& wanted) {
    const auto concerns = [&](const LogEvent& event) {
        if (event.bdf.empty()) return !event.code.starts_with("host.");
        const std::optional<Bdf> bdf = Bdf::parse(event.bdf);
        return bdf && bdf->domain == wanted.domain && bdf->bus == wanted.bus && bdf->device == wanted.device;
    };
    summary.events.erase(std::remove_if(summary.events.begin(), summary.events.end(),
                                        [&](const LogEvent& event) { return !concerns(event); }),
                         summary.events.end());
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json json_of(const LogEvent& event) {
    Json entry;
    entry["code"] = event.code;
    entry["verdict"] = name_of(event.verdict);
    entry["scope"] = name_of(event.scope);
    entry["action"] = name_of(event.action);
    entry["bdf"] = text_or_null(event.bdf);
    if (event.xid != 0) entry["xid"] = event.xid;
    if (event.sxid != 0) entry["sxid"] = event.sxid;
    entry["count"] = event.count;
    entry["first"] = text_or_null(event.first);
    entry["last"] = text_or_null(event.last);
    entry["evidence"] = event.evidence;
    entry["title"] = title_of(event);
    entry["remedy"] = remedy_of(event);
    entry["line"] = event.line;
    if (!event.device.empty()) entry["device"] = event.device;
    if (!event.also.empty()) entry["also"] = event.also;
    if (!event.note.empty()) entry["note"] = event.note;
    if (event.earlier_boot) entry["earlier_boot"] = true;
    return entry;
}

void print_json(const Fact<LogSummary>& log, const LogSummary& summary, std::ostream& out) {
    Json document;
    document["verdict"] = name_of(summary.verdict());
    document["source"] = log.source();
    document["lines"] = summary.lines;
    document["first"] = text_or_null(summary.first);
    document["last"] = text_or_null(summary.last);
    if (summary.lost > 0) document["lost"] = summary.lost;
    if (summary.overflow > 0) document["overflow"] = summary.overflow;
    if (!summary.incomplete.empty()) document["incomplete"] = summary.incomplete;
    document["events"] = Json::array();
    for (const LogEvent& event : summary.events) document["events"].push_back(json_of(event));
    out << dump_json(document) << '\n';
}

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

std::string_view colour_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::fail:
            return "\x1b[31m";
        case Verdict::unknown:
            return "\x1b[35m";
        case Verdict::warn:
            return "\x1b[33m";
        default:
            return "\x1b[32m";
    }
}

std::string painted(Verdict verdict, std::string text, bool colour) {
    return colour ? std::string(colour_of(verdict)) + text + "\x1b[0m" : text;
}

std::string count_of(std::uint64_t number, const char* one) {
    return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
}

void print_table(const LogSummary& summary, bool colour, std::ostream& out) {
    using Row = std::array<std::string, 6>;
    std::vector<Row> rows{{"VERDICT", "GPU", "CODE", "COUNT", "FIRST", "LAST"}};
    for (const LogEvent& event : summary.events) {
        rows.push_back({std::string(name_of(event.verdict)), event.bdf.empty() ? "-" : event.bdf, event.code,
                        std::to_string(event.count), event.first.empty() ? "-" : event.first,
                        event.last.empty() ? "-" : event.last});
    }
    std::array<std::size_t, 6> widths{};
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::string line = padded(rows[r][0], widths[0]);
        if (r > 0) line = painted(summary.events[r - 1].verdict, line, colour);
        for (std::size_t i = 1; i < rows[r].size(); ++i)
            line += "  " + padded(rows[r][i], i + 1 < rows[r].size() ? widths[i] : 0);
        out << line << '\n';
        if (r == 0) continue;
        const LogEvent& event = summary.events[r - 1];
        out << "  " << title_of(event);
        if (!event.device.empty()) out << " (" << host::printable(event.device) << ")";
        for (std::size_t i = 0; i < event.also.size(); ++i)
            out << (i == 0 ? "; with " : ", ") << event.also[i];
        if (event.earlier_boot) out << "; before the newest boot";
        if (!event.note.empty()) out << ". " << host::printable(event.note);
        out << "\n  to do: " << name_of(event.action) << " (" << name_of(event.scope)
            << "): " << remedy_of(event) << "\n  line " << event.line << ": "
            << host::printable(event.evidence) << '\n';
    }
}

void print_text(const Fact<LogSummary>& log, const LogSummary& summary, bool colour, std::ostream& out) {
    if (!summary.events.empty()) print_table(summary, colour, out);
    const Verdict verdict = summary.verdict();
    out << painted(verdict, std::string(name_of(verdict)), colour) << ": "
        << count_of(summary.events.size(), "event") << " in " << count_of(summary.lines, "line") << " of "
        << host::printable(log.source());
    if (!summary.first.empty()) out << ", " << summary.first << " to " << summary.last;
    out << '\n';
    if (summary.lines == 0) out << "  the log holds no line, so nothing is known\n";
    if (!summary.incomplete.empty()) out << "  not read to its end: " << summary.incomplete << '\n';
    if (summary.lost > 0)
        out << "  " << count_of(summary.lost, "older record") << " had been overwritten before\n";
    if (summary.overflow > 0)
        out << "  " << count_of(summary.overflow, "report") << " of further events not listed\n";
}

int could_not_read(const Fact<LogSummary>& log, const LogOptions& options, std::ostream& out,
                   std::ostream& err) {
    err << "gpucheck: " << host::printable(log.source()) << ": " << log.why() << '\n';
    if (log.why() == "EPERM" || log.why() == "EACCES") {
        err << "gpucheck: reading the kernel log needs root or CAP_SYSLOG (kernel.dmesg_restrict=1)\n";
    }
    if (options.format == "json") {
        Json document;
        document["verdict"] = name_of(Verdict::unknown);
        document["source"] = log.source();
        document["error"] = log.why();
        document["events"] = Json::array();
        out << dump_json(document) << '\n';
    } else {
        out << "unknown: the log could not be read\n";
    }
    return exit_status(Verdict::unknown);
}

}  // namespace

int run_log(const LogOptions& options, std::ostream& out, std::ostream& err) {
    std::optional<Bdf> gpu;
    if (!options.gpu.empty()) {
        gpu = Bdf::parse(options.gpu);
        if (!gpu) {
            err << "gpucheck: --gpu wants a PCI address such as 0000:83:00.0, not '"
                << host::printable(options.gpu) << "'\n";
            return kUsage;
        }
    }
    if (options.format != "text" && options.format != "json") {
        err << "gpucheck: log knows --format text and json, not '" << host::printable(options.format)
            << "'\n";
        return kUsage;
    }
    const Fact<LogSummary> log =
        host::read_log_file(options.path, {.since_boot = options.since_boot, .every_line = false});
    if (!log.known()) return could_not_read(log, options, out, err);
    LogSummary summary = log.value();
    if (gpu) keep_gpu(summary, *gpu);
    if (options.format == "json") {
        print_json(log, summary, out);
    } else {
        print_text(log, summary, options.colour, out);
    }
    return exit_status(summary.verdict());
}

}  // namespace gpucheck
