// From a report to its receivers; see delivery.h.
#include "agent/delivery.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <thread>

#include "agent/log.h"
#include "agent/report/render.h"
#include "providers/delivery/gzip.h"
#include "providers/delivery/message.h"
#include "providers/delivery/proof.h"
#include "providers/sign/dsse.h"
#include "providers/sign/key_file.h"

namespace gpucheck {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The whole of what delivery may add to a run, and what of it is not for requests.
constexpr milliseconds kRunLimit{1900}, kNoRequests{300};

bool clock_is_right() {
    timex state{};
    const int status = ::adjtimex(&state);  // reads only: modes is 0
    return status != TIME_ERROR && status >= 0 && (state.status & STA_UNSYNC) == 0;
}

std::variant<std::string, sign::Error> signed_report(const DeliveryPlan& plan, const std::string& json,
                                                     std::vector<std::string>& told) {
    auto key = plan.key_file.empty() ? sign::own_key(plan.state_folder) : sign::load_key(plan.key_file);
    if (auto* error = std::get_if<sign::Error>(&key)) return std::move(*error);
    const sign::LoadedKey& loaded = *std::get_if<sign::LoadedKey>(&key);
    if (!loaded.warning.empty()) told.push_back(loaded.warning);
    return sign::make_envelope(loaded.key, sign::kReportType, json);
}

delivery::Entry entry_of(const DeliveryPlan& plan, const Outgoing& report, std::vector<std::string>& told) {
    delivery::Entry entry;
    entry.report_id = report.report_id;
    entry.created = report.created;
    entry.source = report.source;
    entry.provider = report.provider;
    entry.content_type = sign::kEnvelopeType;
    entry.body = report.json;
    if (!report.enveloped) {
        auto envelope = signed_report(plan, report.json, told);
        if (auto* text = std::get_if<std::string>(&envelope)) {
            entry.body = std::move(*text);
        } else {
            entry.content_type = sign::kReportType;
            told.push_back("the report goes out unsigned: " + std::get_if<sign::Error>(&envelope)->what);
        }
    }
    if (auto smaller = delivery::compress(entry.body)) {
        entry.body = *std::move(smaller);
        entry.gzip = true;
    }
    return entry;
}

double dice() {
    static std::mt19937 generator{std::random_device{}()};
    return std::uniform_real_distribution<double>(0, 1)(generator);
}

// A disk that is full, read-only or broken is when a report matters most.
void deliver_from_memory(DeliveryPlan plan, const Outgoing& report, milliseconds most) {
    std::string folder = "/dev/shm/gpucheck-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) return log_warn("not delivered either: /dev/shm takes no file");
    plan.spool_folder = folder + "/spool";
    const Kept held = keep(plan, report);
    delivery::FlushResult result;
    if (held.kept > 0) result = deliver_now(plan, {most, false, false, {}});
    for (const std::string& sentence : result.told) log_warn(sentence);
    if (held.kept == 0 || result.undelivered() > 0) log_warn("not delivered either: the report is lost");
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
}

void child_part(const DeliveryPlan& plan, const std::optional<Outgoing>& unkept, milliseconds most) {
    guard_memory();
    if (unkept) {
        const Kept result = keep(plan, *unkept);
        for (const std::string& sentence : result.told) log_warn(sentence);
        if (result.kept == 0) return deliver_from_memory(plan, *unkept, most);
    }
    const delivery::FlushResult result = deliver_now(plan, {most, false, false, {}});
    for (const std::string& sentence : result.told) log_warn(sentence);
    if (const std::size_t waiting = result.failed + result.waiting; waiting > 0)
        log_warn(std::to_string(waiting) + " not delivered and kept in " + plan.spool_folder +
                 ": gpucheck report flush");
}

}  // namespace

std::string default_state_folder() {
    if (::geteuid() == 0) return "/var/lib/gpucheck";
    const char* state = std::getenv("XDG_STATE_HOME");
    if (state != nullptr && *state == '/') return std::string(state) + "/gpucheck";
    const char* home = std::getenv("HOME");
    if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/gpucheck";
    return {};
}

std::variant<DeliveryPlan, std::string> plan_delivery(const Config& config, const std::string& report_to,
                                                      const std::string& key) {
    DeliveryPlan plan;
    plan.sinks = plan.configured = config.sinks;
    plan.bounds = config.bounds;
    plan.key_file = key.empty() ? config.key_file : key;
    if (!key.empty()) {
        // Who names a key wants a signature: without it nothing goes.
        const auto loaded = sign::load_key(key);
        if (const auto* error = std::get_if<sign::Error>(&loaded)) return "--key: " + error->what;
    }
    plan.state_folder = config.state_folder.empty() ? default_state_folder() : config.state_folder;
    if (!plan.state_folder.empty()) plan.spool_folder = plan.state_folder + "/spool";
    if (!report_to.empty()) {
        delivery::Sink sink;
        sink.url = report_to;
        for (const delivery::Sink& known : config.sinks)
            if (known.url == report_to) sink = known;
        if (const std::string why = delivery::refusal_of(sink); !why.empty())
            return "--report-to " + delivery::shown(report_to) + ": " + why;
        plan.sinks = {sink};
    }
    return plan;
}

Outgoing outgoing(const report::Report& report) {
    const auto known = [](const Fact<std::string>& fact) { return fact.known() ? *fact : std::string(); };
    return {report.report_id,
            report.created,
            delivery::source_uri(known(report.snapshot.instance.provider), known(report.snapshot.instance.id),
                                 known(report.snapshot.host.hostname)),
            report.verdict,
            report::render_json(report),
            false,
            known(report.snapshot.instance.provider)};
}

Kept keep(const DeliveryPlan& plan, const Outgoing& report) {
    Kept result;
    if (plan.spool_folder.empty()) {
        result.told.emplace_back(
            "the report is not kept: set HOME, XDG_STATE_HOME, or state_folder in the config");
        return result;
    }
    auto spool = delivery::Spool::open(plan.spool_folder, plan.bounds);
    if (const auto* error = std::get_if<disk::Error>(&spool)) {
        result.told.push_back("the report is not kept: " + error->what);
        return result;
    }
    auto& opened = *std::get_if<delivery::Spool>(&spool);
    delivery::Entry entry = entry_of(plan, report, result.told);
    for (const delivery::Sink& sink : plan.sinks) {
        entry.sink = sink;
        if (const auto error = opened.add(entry, report.verdict)) {
            result.told.push_back("the report is not kept: " + error->what);
        } else {
            ++result.kept;
        }
    }
    if (const std::size_t gone = opened.enforce(std::time(nullptr), clock_is_right()); gone > 0)
        result.told.push_back(plan.spool_folder + " is full: " + std::to_string(gone) +
                              " undelivered dropped");
    return result;
}

void guard_memory() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0);
}

delivery::FlushResult deliver_now(const DeliveryPlan& plan, const DeliverOptions& options) {
    if (plan.spool_folder.empty()) return {};
    auto found = delivery::Spool::existing(plan.spool_folder, plan.bounds);
    if (const auto* error = std::get_if<disk::Error>(&found)) {
        delivery::FlushResult result;
        result.damaged = 1;
        result.told.push_back(error->what);
        return result;
    }
    auto& spool = *std::get_if<std::optional<delivery::Spool>>(&found);
    if (!spool) return {};
    spool->enforce(std::time(nullptr), clock_is_right());
    delivery::FlushOptions flush;
    if (options.limit != milliseconds::max()) flush.end = Clock::now() + options.limit;
    flush.now = options.now;
    flush.rejected = options.rejected;
    flush.only = options.only;
    flush.sinks = plan.configured;
    flush.now_s = [] { return static_cast<std::int64_t>(std::time(nullptr)); };
    flush.dice = dice;
    const auto client = http::curl_client();
    const auto metadata = http::curl_client();
    delivery::Prover prover(*metadata);
    flush.proof = [&prover](const delivery::Entry& entry, milliseconds most) {
        return prover.headers(entry, most);
    };
    return delivery::flush(*spool, *client, flush);
}

void deliver_after_run(const DeliveryPlan& plan, const std::optional<Outgoing>& unkept) {
    const Clock::time_point end = Clock::now() + kRunLimit;
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        log_warn("no child process for delivery; the report is kept: gpucheck report flush");
        return;
    }
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() == parent) child_part(plan, unkept, kRunLimit - kNoRequests);
        ::_exit(0);
    }
    // Nearly all deliveries take some milliseconds; a name server that is dead takes for ever.
    for (milliseconds pause{1}; Clock::now() < end; pause = std::min(pause * 2, milliseconds(20))) {
        if (::waitpid(child, nullptr, WNOHANG) != 0) return;
        std::this_thread::sleep_for(pause);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, WNOHANG);  // never wait for what the kernel may hold
    log_warn(unkept
                 ? "no answer in time; what no disk took is lost, what was kept waits: gpucheck report flush"
                 : "no answer in time; what was kept waits: gpucheck report flush");
}

}  // namespace gpucheck
