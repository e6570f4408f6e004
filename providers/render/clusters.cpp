// What Kubernetes, NVSentinel and the node problem detector take.
#include "providers/render/targets.h"

#include "checks/json/utf8.h"

namespace gpucheck::faults {
namespace {

constexpr std::size_t kMaxMessage = 4000;  // NVSentinel passes messages on as node conditions
// node-problem-detector's custom plugins: max_output_length is 80 unless configured (its
// docs/custom_plugin_monitor.md).
constexpr std::size_t kMaxLine = 80;

// Reasons of node conditions are CamelCase: "gpu.count.missing" -> "GpuCountMissing".
std::string camel_case(std::string_view code) {
    std::string out;
    bool begins = true;
    for (const char c : code) {
        if (c == '.' || c == '_') {
            begins = true;
        } else {
            out += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
            begins = false;
        }
    }
    return out;
}

// Whether a machine without faults of its host may be called healthy: not while the guest has faults, which
// are another's business and no health.
std::string_view condition_of(const ReportFacts& report, const std::vector<Told>& all) {
    if (!all.empty()) return "True";
    switch (report.verdict) {
        case Verdict::pass:
        case Verdict::warn:
            return "False";
        case Verdict::unknown:
            return "Unknown";
        default:
            return {};
    }
}

std::string plain_state(const ReportFacts& report) {
    switch (report.verdict) {
        case Verdict::pass:
        case Verdict::warn:
            return "no fault found (" + std::string(name_of(report.verdict)) + ")";
        case Verdict::fail:
            return "fail, and the report names no fault";
        default:
            return "not everything could be looked at";
    }
}

// Cut between letters, and how many more there are is never cut away.
std::string line_of(std::string line, std::size_t more) {
    const std::string tail = more > 0 ? " (+" + std::to_string(more) + ")" : "";
    if (line.size() + tail.size() > kMaxLine) {
        line.resize(kMaxLine - tail.size());
        while (!line.empty() && !is_utf8(line)) line.pop_back();
    }
    return line + tail;
}

}  // namespace

void render_k8s(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                Rendering& into) {
    const std::string_view status = condition_of(report, all);
    if (status.empty()) return;
    Rendered one;
    one.credential = "Bearer token that may patch nodes/status";
    one.note = "Keep lastTransitionTime as it is while the status stays the same.";
    const Json condition{{"type", "GpuCheckFailed"},
                         {"status", status},
                         {"reason", all.empty() ? "GpuCheck" + camel_case(name_of(report.verdict))
                                                : camel_case(all.front().problem->code)},
                         {"message", all.empty() ? plain_state(report) : sentences(all, kMaxMessage)},
                         {"lastHeartbeatTime", start_of({}, report)},
                         {"lastTransitionTime", start_of(all, report)}};
    one.request = json_request(
        "PATCH",
        "https://kubernetes.default.svc/api/v1/nodes/" + value_or_hole(place.node, "node", one) + "/status",
        Json{{"status", {{"conditions", Json::array({condition})}}}});
    one.request.headers = {{"Content-Type", "application/strategic-merge-patch+json"}};
    into.requests.push_back(std::move(one));
}

// The JSON of its protocol buffer (data-models/protobufs/health_event.proto), for grpcurl.
void render_nvsentinel(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                       Rendering& into) {
    if (all.empty()) return;
    Rendered one;
    one.note =
        "gRPC on the node's socket: grpcurl -plaintext -unix -proto health_event.proto -d @ "
        "/var/run/nvsentinel.sock "
        "datamodels.PlatformConnector/HealthEventOccurredV1";
    Json events = Json::array();
    for (const Told& told : all) {
        const ReportProblem& problem = *told.problem;
        const bool fatal = problem.verdict == Verdict::fail;
        Json entities = Json::array();
        if (report.gpu(problem.subject) != nullptr)
            entities.push_back({{"entityType", "PCI"}, {"entityValue", problem.subject}});
        events.push_back({{"version", 1},
                          {"agent", "gpucheck"},
                          {"componentClass", "GPU"},
                          {"checkName", problem.check},
                          {"isFatal", fatal},
                          {"isHealthy", false},
                          {"message", sentences({told}, kMaxMessage)},
                          {"recommendedAction", fatal ? told.row->nvsentinel : std::string("NONE")},
                          {"errorCode", Json::array({problem.code})},
                          {"entitiesImpacted", entities},
                          {"metadata", {{"report_id", report.report_id}}},
                          {"generatedTimestamp", start_of({told}, report)},
                          {"nodeName", value_or_hole(place.node, "node", one)},
                          {"processingStrategy", "EXECUTE_REMEDIATION"}});
    }
    one.request = json_request("POST", "http://localhost/datamodels.PlatformConnector/HealthEventOccurredV1",
                               Json{{"version", 1}, {"events", events}});
    into.requests.push_back(std::move(one));
}

void render_npd(const ReportFacts& report, const Place&, const std::vector<Told>& all, Rendering& into) {
    if (condition_of(report, all).empty()) return;
    into.line = all.empty() ? line_of("gpucheck: " + plain_state(report), 0)
                            : line_of(sentence(*all.front().problem), all.size() - 1);
}

// For a scheduler's reason: the worst problem, whoever has to mend it, since no job can run meanwhile.
void render_line(const ReportFacts& report, const Place&, const std::vector<Told>&, Rendering& into) {
    const ReportProblem* first = nullptr;
    std::size_t alike = 0;
    for (const ReportProblem& problem : report.problems) {
        if (problem.verdict != report.verdict) continue;
        if (first == nullptr) first = &problem;
        ++alike;
    }
    const std::string prefix =
        report.verdict == Verdict::fail ? "" : std::string(name_of(report.verdict)) + ": ";
    into.line = first == nullptr ? line_of("gpucheck: " + plain_state(report), 0)
                                 : line_of(prefix + sentence(*first), alike - 1);
    into.left_out.clear();  // of other targets
}

}  // namespace gpucheck::faults
