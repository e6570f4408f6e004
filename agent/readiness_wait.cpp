// The loop around the state machine, and its report; see readiness_wait.h.
#include "agent/readiness_wait.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>
#include <utility>

#include "agent/readiness_read.h"
#include "checks/all.h"
#include "checks/json/json.h"

namespace gpucheck::readiness {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Change = report::Readiness::Change;

constexpr std::size_t kMaxChanges = 256;
constexpr const char* kNvml = "libnvidia-ml.so.1";

double seconds(milliseconds time) {
    return static_cast<double>(time.count()) / 1000;
}

milliseconds since(Clock::time_point start) {
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

std::string in_seconds(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f s", value);
    return text.data();
}

milliseconds limit_of(const WaitOptions& options, const Snapshot& snapshot) {
    if (options.limit) return *options.limit;
    const auto seen = static_cast<unsigned>(std::min<std::size_t>(snapshot.gpus.size(), 1024));
    return automatic_limit(options.promised.known() ? std::max(seen, *options.promised) : seen);
}

bool may_ask_nvml(const WaitOptions& options, const Look& look) {
    // Asked without a driver NVML has one loaded: that is not for an observer to do.
    return options.ask_nvml && look.nvidia.gpus > 0 && look.nvidia.bound == look.nvidia.gpus;
}

class Waiting {
  public:
    Waiting(const host::Sysroot& root, const WaitOptions& options, Progress& progress,
            report::Readiness& readiness)
        : root_(root), options_(options), progress_(progress), readiness_(readiness) {}

    State run() {
        for (;;) {
            look();
            const milliseconds at = since(options_.start);
            readiness_.waited_s = seconds(at);
            readiness_.limit_s = seconds(limit_);
            readiness_.under_way = !state_.over() && under_way(state_.cause);
            readiness_.ready = state_.over() && !state_.gave_up;
            readiness_.timed_out = !state_.over() && at >= limit_;
            if (state_.over() || readiness_.timed_out) return state_;
            const milliseconds growing = std::min(options_.longest, options_.shortest + at / 20);
            const milliseconds pause =
                std::min(state_.hurdle == Hurdle::settle ? options_.shortest : growing, limit_ - at);
            progress_.wait("the next look", pause + options_.stall);
            std::this_thread::sleep_for(pause);
        }
    }

  private:
    void look() {
        constexpr milliseconds kNodes{1200}, kMargin{1000}, kLeast{200};
        Snapshot snapshot = read_snapshot(root_, kNodes);
        snapshot.expected.gpu_count = options_.promised;
        limit_ = limit_of(options_, snapshot);
        const ModuleStates modules = read_module_states(root_);
        const std::vector<Busy> busy = read_busy(root_, snapshot.host.dkms);
        Look look = look_of(snapshot, modules, busy);
        if (may_ask_nvml(options_, look)) {
            if (!asked_) {
                look.nvidia.counting = true;
                take(look);
            }
            asked_ = true;
            // A GPU that starts is given all the time there is: a client that is killed while it attaches one
            // has the driver shut it down again, when nothing else holds it.
            const milliseconds left = std::max(kLeast, limit_ - since(options_.start));
            progress_.wait(kNvml, left + kMargin);
            options_.ask_nvml(snapshot, left);
            look = look_of(snapshot, modules, busy);
        }
        take(look);
    }

    void take(const Look& look) {
        const milliseconds at = since(options_.start);
        State next = advance(state_, look, at);
        const bool changed = !next.same_as(state_);
        state_ = std::move(next);
        if (!changed) return;
        readiness_.changes.push_back({seconds(at), std::string(name_of(state_.hurdle)),
                                      std::string(name_of(state_.cause)), state_.text});
        // What flaps for minutes is told, and kept only while there is room; the last one always is.
        if (readiness_.changes.size() > kMaxChanges) readiness_.changes.erase(readiness_.changes.end() - 2);
        if (options_.on_change) options_.on_change(state_, at);
    }

    const host::Sysroot& root_;
    const WaitOptions& options_;
    Progress& progress_;
    report::Readiness& readiness_;
    State state_;
    milliseconds limit_{0};
    bool asked_ = false;
};

/// A file in memory that a child writes and its parent reads, also when the child hangs.
class SharedNotes {
  public:
    SharedNotes() : fd_(::memfd_create("gpucheck-readiness", MFD_CLOEXEC)) {}
    ~SharedNotes() {
        if (fd_ >= 0) ::close(fd_);
    }
    SharedNotes(const SharedNotes&) = delete;
    SharedNotes& operator=(const SharedNotes&) = delete;

    /// The descriptor's offset is shared with the parent and with the next child: lines follow one another.
    void add(const Json& line) const {
        const std::string text = dump_json(line, -1) + "\n";
        if (::write(fd_, text.data(), text.size()) < 0) return;  // no memory: the parent knows less
    }
    std::string read() const {
        constexpr off_t kMost = 4 << 20;
        const off_t size = std::min(::lseek(fd_, 0, SEEK_END), kMost);
        std::string text(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
        const ssize_t got = text.empty() ? 0 : ::pread(fd_, text.data(), text.size(), 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        return text;
    }

  private:
    int fd_;
};

Json line_of(const State& state, milliseconds at) {
    return Json{{"at", seconds(at)},
                {"missing", name_of(state.hurdle)},
                {"cause", name_of(state.cause)},
                {"text", state.text},
                {"under_way", !state.over() && under_way(state.cause)}};
}

Json end_of(const report::Readiness& readiness) {
    return Json{{"ready", readiness.ready},
                {"timed_out", readiness.timed_out},
                {"waited", readiness.waited_s},
                {"limit", readiness.limit_s}};
}

bool same(const Change& left, const Change& right) {
    return left.hurdle == right.hurdle && left.cause == right.cause && left.text == right.text;
}

void take_line(const Json& line, report::Readiness& readiness, bool& ended) {
    if (line.contains("ready")) {
        ended = true;
        readiness.ready = line.value("ready", false);
        readiness.timed_out = line.value("timed_out", false);
        readiness.waited_s = line.value("waited", 0.0);
        readiness.limit_s = line.value("limit", 0.0);
        return;
    }
    Change change{line.value("at", 0.0), line.value("missing", "none"), line.value("cause", "none"),
                  line.value("text", "")};
    readiness.under_way = line.value("under_way", false);
    // A child that follows one that hung begins where that one was.
    if (!readiness.changes.empty() && same(readiness.changes.back(), change)) return;
    if (readiness.changes.size() == kMaxChanges) readiness.changes.pop_back();
    readiness.changes.push_back(std::move(change));
}

report::Readiness told(const SharedNotes& notes, bool& ended) {
    report::Readiness readiness;
    const std::string text = notes.read();
    for (const std::string_view line : host::lines_of(text)) {
        const auto parsed = parse_json(line, 4);
        const Json* json = std::get_if<Json>(&parsed);
        if (json != nullptr && json->is_object()) take_line(*json, readiness, ended);
    }
    return readiness;
}

}  // namespace

namespace {

/// For NVML whose asking hung in an earlier child: it is not asked again.
void nvml_did_not_return(Snapshot& snapshot, milliseconds) {
    for (Device& gpu : snapshot.gpus)
        gpu.telemetry.first.nvidia.identity.handle = Missing{kNvml, "did not return"};
}

}  // namespace

State wait(const host::Sysroot& root, const WaitOptions& options, Progress& progress,
           report::Readiness& readiness) {
    return Waiting(root, options, progress, readiness).run();
}

report::Readiness wait_supervised(host::Sysroot& root, const WaitOptions& options) {
    constexpr milliseconds kGrace{5000};
    const SharedNotes notes;
    Supervision limits;
    limits.budget = options.limit.value_or(kLongestAutomatic) + kGrace;
    limits.stall = options.stall;
    const Outcome outcome =
        supervise(limits, [&](const std::vector<std::string>& refused, Progress& progress) {
            root.refuse(refused);
            root.on_access([&](const host::Access& access) { progress.step(access.path); });
            WaitOptions own = options;
            if (std::find(refused.begin(), refused.end(), kNvml) != refused.end())
                own.ask_nvml = nvml_did_not_return;
            own.on_change = [&](const State& state, milliseconds at) {
                notes.add(line_of(state, at));
                if (options.on_change) options.on_change(state, at);
            };
            report::Readiness readiness;
            wait(root, own, progress, readiness);
            notes.add(end_of(readiness));
            return 0;
        });
    bool ended = false;
    report::Readiness readiness = told(notes, ended);
    if (ended) return readiness;
    // The last child hung or crashed: what it had told before counts, and where it was.
    readiness.ready = false;
    readiness.timed_out = true;
    readiness.waited_s = seconds(since(options.start));
    readiness.limit_s = seconds(options.limit.value_or(kLongestAutomatic));
    const std::string where = outcome.last_step.empty() ? "its start" : outcome.last_step;
    const bool crashed = outcome.kind == Outcome::Kind::crashed;
    readiness.changes.push_back({readiness.waited_s, "bus", "unread",
                                 (crashed ? "the wait crashed at " : "the wait did not get past ") + where});
    return readiness;
}

Finding finding_of(const report::Readiness& readiness, std::string_view check_id) {
    const std::string expected =
        "the GPUs driven, openable and counted within " + in_seconds(readiness.limit_s);
    const std::string last =
        readiness.changes.empty() ? std::string("nothing was seen") : readiness.changes.back().text;
    if (readiness.timed_out) {
        return finding("driver.not_ready", Verdict::unknown, {}, expected,
                       "after " + in_seconds(readiness.waited_s) + ": " + last, "readiness wait");
    }
    return finding(check_id, Verdict::pass, {}, expected,
                   "after " + in_seconds(readiness.waited_s) + ": " + last, "readiness wait");
}

void excuse(const report::Readiness& readiness, std::vector<report::CheckLine>& checks) {
    if (!readiness.timed_out || !readiness.under_way || readiness.changes.empty()) return;
    // What a driver that is still to come leaves undone. Not among them: the count on the bus, the kernel
    // log, anything measured.
    const std::array driver{&kDriverLoadedCheck, &kDriverBoundCheck, &kDkmsCheck,  &kDriverVersionCheck,
                            &kKfdCheck,          &kLibraryCheck,     &kNodesCheck, &kNvidiaFabricCheck};
    const std::array fabric{&kNvidiaFabricCheck, &kNvidiaNvlinkCheck};
    const Change& last = readiness.changes.back();
    const auto is = [](std::string_view id) { return [id](const Check* check) { return check->id == id; }; };
    const auto excused = [&](std::string_view id) {
        return last.hurdle == name_of(Hurdle::fabric) ? std::any_of(fabric.begin(), fabric.end(), is(id))
                                                      : std::any_of(driver.begin(), driver.end(), is(id));
    };
    for (report::CheckLine& line : checks) {
        CheckResult& result = line.result;
        if (result.check == nullptr || !excused(result.check->id) || result.verdict != Verdict::fail)
            continue;
        result.verdict = Verdict::not_applicable;
        for (Finding& each : result.findings) {
            if (each.verdict == Verdict::fail) {
                each.verdict = Verdict::unknown;
                each.observed += " (not ready yet: " + last.text + ")";
            }
            result.verdict = std::max(result.verdict, each.verdict);
        }
    }
}

}  // namespace gpucheck::readiness
