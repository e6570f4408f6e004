// The report for CI servers: an acceptance run whose unknowns went green would put a broken machine into a
// pool.
#include <cstdio>
#include <map>
#include <utility>

#include "agent/report/escape.h"
#include "agent/report/render.h"
#include "agent/report/words.h"

namespace gpucheck::report {
namespace {

constexpr std::string_view kNotApplicable = "does not apply";

/// All that one check said about one subject.
struct TestCase {
    std::string_view check, subject;
    Verdict verdict = Verdict::pass;
    bool counts = true;  ///< false: an unknown that the profile does not require
    std::string body;    ///< escaped
    std::string message;
    double seconds = 0;
};

struct Suite {
    std::vector<TestCase> cases;
    std::size_t failures = 0, errors = 0, skipped = 0;
};

std::string sentence(const Check* check, const Finding& finding) {
    const CatalogueRow* row = catalogue_row(finding.code);
    std::string_view title = finding.message;
    if (title.empty() && row != nullptr) title = row->title;
    if (title.empty() && check != nullptr) title = check->title;
    return markup(finding.code, kLineBytes) + ": " +
           markup(title.empty() ? name_of(finding.verdict) : title, kLineBytes);
}

void add_line(std::string& body, std::string_view name, std::string_view text) {
    if (text.empty()) return;
    body += std::string(name) + ": " + markup(text) + "\n";
}

std::string details(const Check* check, const Finding& finding) {
    std::string body = sentence(check, finding) + "\n";
    add_line(body, "expected", finding.expected);
    add_line(body, "observed", finding.observed);
    add_line(body, "source", finding.source);
    if (const CatalogueRow* row = catalogue_row(finding.code)) {
        add_line(body, "who", scope_words(finding.scope.value_or(row->scope)));
        add_line(body, "do", row->remedy);
    }
    return body;
}

void add_check(const CheckLine& line, Suite& suite) {
    const CheckResult& result = line.result;
    const std::string_view id = result.check != nullptr ? result.check->id : "unnamed";
    if (result.findings.empty()) {
        TestCase one;
        one.check = id;
        one.subject = "host";
        one.verdict = result.verdict == Verdict::not_applicable ? Verdict::not_applicable : Verdict::unknown;
        one.counts = result.required;
        one.message = result.reason.empty() ? "the check was not run" : markup(result.reason, kLineBytes);
        suite.cases.push_back(std::move(one));
        return;
    }
    std::map<std::string_view, std::size_t> places;  // of each subject of this check
    for (const Finding& finding : result.findings) {
        const auto [place, is_new] = places.emplace(finding.subject.id, suite.cases.size());
        if (is_new) {
            TestCase one;
            one.check = id;
            one.subject = finding.subject.id;
            one.verdict = finding.verdict;
            one.counts = result.required;
            one.message = sentence(result.check, finding);
            suite.cases.push_back(std::move(one));
        }
        TestCase& one = suite.cases[place->second];
        if (finding.verdict > one.verdict) {
            one.verdict = finding.verdict;
            one.message = sentence(result.check, finding);
        }
        if (finding.verdict != Verdict::pass) one.body += details(result.check, finding);
    }
    if (!places.empty()) suite.cases.back().seconds = line.duration_ms / 1000;
}

std::string decimal(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6f", value >= 0 && value < 1e9 ? value : 0.0);
    return buffer;
}

std::string element(std::string_view name, const TestCase& one) {
    return "      <" + std::string(name) + " message=\"" + one.message + "\"" +
           (name == "skipped" ? "" : " type=\"" + std::string(report::shout(one.verdict)) + "\"") +
           (one.body.empty() ? "/>\n" : ">" + one.body + "</" + std::string(name) + ">\n");
}

// Fail is a failure, an unknown that counts an error, everything that was not judged skipped; a warning
// passes and tells.
std::string outcome(const TestCase& one, Suite& suite) {
    switch (one.verdict) {
        case Verdict::pass:
            return {};
        case Verdict::warn:
            return one.body.empty() ? std::string() : "      <system-out>" + one.body + "</system-out>\n";
        case Verdict::fail:
            ++suite.failures;
            return element("failure", one);
        case Verdict::unknown:
            if (one.counts) {
                ++suite.errors;
                return element("error", one);
            }
            break;
        case Verdict::not_applicable:
            break;
    }
    ++suite.skipped;
    TestCase skipped = one;
    skipped.message = std::string(one.verdict == Verdict::not_applicable ? kNotApplicable : "not checked") +
                      ": " + one.message;
    return element("skipped", skipped);
}

std::string properties(const Report& report) {
    const auto property = [](std::string_view name, std::string_view value) {
        return "      <property name=\"" + std::string(name) + "\" value=\"" + markup(value, kLineBytes) +
               "\"/>\n";
    };
    return "    <properties>\n" + property("verdict", name_of(report.verdict)) +
           property("report_id", report.report_id) + property("version", report.tool_version) +
           property("simulated", report.simulated ? "true" : "false") +
           property("injected", report.injected) + "    </properties>\n";
}

}  // namespace

std::string render_junit(const Report& report) {
    Suite suite;
    for (const CheckLine& line : report.checks) add_check(line, suite);
    if (suite.cases.empty()) {  // a run without a single case would be green
        suite.cases.push_back({"run", "host", Verdict::unknown, true, "", "no check was run", 0});
    }
    std::string cases;
    for (const TestCase& one : suite.cases) {
        const std::string inner = outcome(one, suite);
        cases += "    <testcase classname=\"gpucheck." + markup(one.check, kLineBytes) + "\" name=\"" +
                 markup(one.subject, kLineBytes) + "\" time=\"" + decimal(one.seconds) + "\"" +
                 (inner.empty() ? "/>\n" : ">\n" + inner + "    </testcase>\n");
    }
    const std::string counts =
        " tests=\"" + std::to_string(suite.cases.size()) + "\" failures=\"" + std::to_string(suite.failures) +
        "\" errors=\"" + std::to_string(suite.errors) + "\" skipped=\"" + std::to_string(suite.skipped) +
        "\" time=\"" + decimal(report.duration_s) + "\"";
    const Fact<std::string>& host = report.snapshot.host.hostname;
    const std::string hostname = host.known() ? " hostname=\"" + markup(host.value(), kLineBytes) + "\"" : "";
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
           ">\n  <testsuite name=\"gpucheck." + std::string(name_of(report.profile)) + "\" timestamp=\"" +
           markup(report.created, kLineBytes) + "\"" + hostname + counts + ">\n" + properties(report) +
           cases + "  </testsuite>\n</testsuites>\n";
}

}  // namespace gpucheck::report
