// The verdict as files, lines and fields; see boot.h.
#include "agent/boot.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "agent/report/escape.h"
#include "agent/report/exit_status.h"
#include "agent/report/json_text.h"
#include "agent/report/output_file.h"
#include "agent/report/render.h"
#include "agent/report/view.h"

namespace gpucheck::boot {
namespace {

constexpr std::size_t kMaxCodes = 64, kShownCodes = 4;

/// Each code once, in the report's order: fail first, then unknown, then warn.
std::vector<std::string_view> codes_of(const report::View& view) {
    std::vector<std::string_view> codes;
    for (const report::Problem& problem : view.problems) {
        if (codes.size() < kMaxCodes && std::find(codes.begin(), codes.end(), problem.code) == codes.end())
            codes.push_back(problem.code);
    }
    return codes;
}

std::string joined(const std::vector<std::string_view>& codes, std::size_t most, std::string_view between) {
    std::string text;
    for (std::size_t i = 0; i < std::min(codes.size(), most); ++i)
        text += (i == 0 ? "" : std::string(between)) + std::string(codes[i]);
    if (codes.size() > most) text += " and " + std::to_string(codes.size() - most) + " more";
    return text;
}

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return result;
}

std::string count_of(const report::GpuCount& count) {
    if (!count.pci) return "GPUs not counted";
    if (count.expected) {
        return std::to_string(*count.pci) + " of " + std::to_string(*count.expected) +
               (*count.expected == 1 ? " GPU" : " GPUs");
    }
    return std::to_string(*count.pci) + (*count.pci == 1 ? " GPU" : " GPUs");
}

/// What is said of a verdict in one line.
std::string said(const report::Report& report) {
    const report::View view = report::view_of(report);
    std::string text = upper(name_of(report.verdict)) + ": " + count_of(view.count);
    const std::string codes = joined(codes_of(view), kShownCodes, ", ");
    if (!codes.empty()) text += "; " + codes;
    if (report.simulated) text += "; simulated";
    if (!report.injected.empty()) text += "; a fault was injected";
    return text;
}

void text_of(report::JsonText& json, std::string_view name, const Fact<std::string>& fact) {
    json.key(name).text_or_null(fact.known() ? std::string_view(*fact) : std::string_view());
}

std::string first_of(const char* variable) {
    const char* value = std::getenv(variable);
    const std::string text = value != nullptr ? value : "";
    return text.substr(0, text.find(':'));
}

/// systemd made the folder already; without it a run by hand does.
void make_folder(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0755) != 0) return;  // what is wrong is said by the write that follows
}

std::string verdict_json(const report::Report& report, int exit_status, std::string_view line) {
    report::JsonText json;
    json.begin_object();
    json.key("schema_version").text("1.0");
    json.key("verdict").text(name_of(report.verdict));
    json.key("exit_status").integer(exit_status);
    json.key("report_id").text_or_null(report.report_id);
    json.key("created").text(report.created);
    json.key("simulated").flag(report.simulated);
    json.key("injected").text_or_null(report.injected);
    text_of(json, "boot_id", report.snapshot.host.boot_id);
    text_of(json, "provider", report.snapshot.instance.provider);
    text_of(json, "instance_type", report.snapshot.instance.type);
    text_of(json, "instance_id", report.snapshot.instance.id);
    json.key("codes").begin_array();
    const report::View view = report::view_of(report);
    for (const std::string_view code : codes_of(view)) json.text(code);
    json.end_array();
    json.key("line").text(line);
    json.end_object();
    return json.take();
}

std::vector<JournalField> fields_of(const report::Report& report, int exit_status, const std::string& line) {
    const report::View view = report::view_of(report);
    // syslog's numbers (RFC 5424, 6.2.1): error, warning, notice, informational
    const bool error = report.verdict == Verdict::fail, doubt = report.verdict == Verdict::unknown;
    const char* priority = error ? "3" : doubt ? "4" : report.verdict == Verdict::warn ? "5" : "6";
    std::vector<JournalField> fields{{"MESSAGE", line},
                                     {"MESSAGE_ID", std::string(kVerdictMessageId)},
                                     {"PRIORITY", priority},
                                     {"SYSLOG_IDENTIFIER", "gpucheck"},
                                     {"GPUCHECK_VERDICT", std::string(name_of(report.verdict))},
                                     {"GPUCHECK_CODES", joined(codes_of(view), kMaxCodes, " ")},
                                     {"GPUCHECK_REPORT_ID", report.report_id},
                                     {"GPUCHECK_EXIT_STATUS", std::to_string(exit_status)},
                                     {"GPUCHECK_PROFILE", std::string(name_of(report.profile))}};
    if (view.count.pci) fields.emplace_back("GPUCHECK_GPUS", std::to_string(*view.count.pci));
    if (view.count.expected)
        fields.emplace_back("GPUCHECK_GPUS_EXPECTED", std::to_string(*view.count.expected));
    const Instance& instance = report.snapshot.instance;
    if (instance.provider.known())
        fields.emplace_back("GPUCHECK_PROVIDER", report::plain(*instance.provider));
    if (instance.type.known()) fields.emplace_back("GPUCHECK_INSTANCE_TYPE", report::plain(*instance.type));
    if (instance.id.known()) fields.emplace_back("GPUCHECK_INSTANCE_ID", report::plain(*instance.id));
    return fields;
}
}  // namespace

Places places() {
    Places result;
    const std::string runtime = first_of("RUNTIME_DIRECTORY"), state = first_of("STATE_DIRECTORY");
    result.given = !runtime.empty() && !state.empty();
    if (!runtime.empty()) result.runtime = runtime;
    if (!state.empty()) result.state = state;
    return result;
}

std::string render_verdict(const report::Report& report, int exit_status) {
    return verdict_json(report, exit_status, verdict_line(report));
}

std::string verdict_line(const report::Report& report) {
    return report::plain("gpucheck: " + said(report) + "; report " + report.report_id);
}

std::string motd_line(const report::Report& report, const Places& where) {
    return report::plain("GPUs: " + said(report) + " (gpucheck, " + report.created + ", " + where.runtime +
                         "/report.txt)");
}

std::vector<JournalField> journal_fields(const report::Report& report, int exit_status) {
    return fields_of(report, exit_status, verdict_line(report));
}

void forget_verdict(const Places& where) {
    for (const char* name : {"/verdict.json", "/motd", "/report.json", "/report.txt"})
        ::unlink((where.runtime + name).c_str());
}

std::optional<std::string> announce(const report::Report& report, int exit_status, const Places& where) {
    make_folder(where.runtime);
    const report::RenderOptions plain_text{.colour = false, .width = 100};
    const std::string report_text = report::render(report, report::Format::text, plain_text);
    const std::string report_json = report::render(report, report::Format::json, plain_text);
    std::optional<std::string> wrong;
    // The verdict last: who sees it finds the report beside it.
    for (const auto& [name, content] :
         {std::pair("/report.txt", report_text), std::pair("/report.json", report_json),
          std::pair("/motd", motd_line(report, where) + "\n"),
          std::pair("/verdict.json", render_verdict(report, exit_status))}) {
        if (auto error = report::atomic_write(where.runtime + name, content); error && !wrong) wrong = error;
    }
    if (!report.simulated) send_to_journal(journal_fields(report, exit_status));
    return wrong;
}

bool verdict_stands(const Places& where) {
    return ::access((where.runtime + "/verdict.json").c_str(), F_OK) == 0;
}

void announce_broken(report::Report known, int exit_status, const std::string& why, const Places& where) {
    known.verdict = Verdict::unknown;
    known.report_id.clear();  // there is no report
    known.checks.clear();
    const char* what = exit_status == kUsage ? "gpucheck could not begin: " : "gpucheck itself broke: ";
    const std::string line =
        report::plain("gpucheck: UNKNOWN: " + (what + why) + (known.simulated ? "; simulated" : ""));
    forget_verdict(where);
    make_folder(where.runtime);
    // Nothing is left to do when a file cannot be written either: the exit status tells it too.
    static_cast<void>(report::atomic_write(where.runtime + "/motd", line + "\n"));
    static_cast<void>(
        report::atomic_write(where.runtime + "/verdict.json", verdict_json(known, exit_status, line)));
    if (!known.simulated) send_to_journal(fields_of(known, exit_status, line));
}

}  // namespace gpucheck::boot
