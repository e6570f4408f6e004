// The view's thread; see live.h.
#include "fleet/collect/live.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/report/report_id.h"
#include "fleet/collect/receive.h"
#include "fleet/page/page.h"
#include "fleet/read/envelope.h"
#include "providers/delivery/gzip.h"

namespace gpucheck::fleet::collect {
namespace {

using Clock = std::chrono::steady_clock;

// Only this thread's priority: on Linux it is one of a thread (setpriority(2), BUGS).
void step_back() {
    constexpr int kNice = 10;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
}

}  // namespace

Live::Live(Store& store, LiveOptions options, std::function<void(const std::string&)> complain)
    : store_(store),
      options_(std::move(options)),
      complain_(std::move(complain)),
      fleet_(std::make_unique<Fleet>()),
      thread_([this] { loop(); }) {}

Live::~Live() {
    finish();
}

void Live::finish() {
    {
        const std::lock_guard lock(lock_);
        ending_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void Live::ask(Answer answer) {
    std::shared_ptr<const View> young;
    {
        const std::lock_guard lock(lock_);
        constexpr std::chrono::seconds kAfterAFault{2};
        if (view_ && Clock::now() - view_->made < std::chrono::seconds(options_.every_s)) {
            young = view_;
        } else if (!ending_ && Clock::now() >= failed_ + kAfterAFault) {
            asked_.push_back(std::move(answer));
            wake_.notify_one();
            return;
        }
    }
    answer(young);
}

std::shared_ptr<const View> Live::last() const {
    const std::lock_guard lock(lock_);
    return view_;
}

void Live::loop() {
    step_back();
    for (;;) {
        {
            std::unique_lock lock(lock_);
            wake_.wait(lock, [this] { return ending_ || !asked_.empty(); });
            if (ending_) break;
        }
        std::shared_ptr<const View> made;
        try {
            made = make();
        } catch (const std::exception& error) {  // no memory for so many reports; receiving goes on
            complain_(std::string("the page cannot be made: ") + error.what());
        }
        std::vector<Answer> asked;
        {
            const std::lock_guard lock(lock_);
            if (made)
                view_ = made;
            else
                failed_ = Clock::now();
            asked.swap(asked_);
        }
        for (const Answer& answer : asked) answer(made);
    }
    std::vector<Answer> asked;
    {
        const std::lock_guard lock(lock_);
        asked.swap(asked_);
    }
    for (const Answer& answer : asked) answer(nullptr);
}

std::shared_ptr<const View> Live::make() {
    const auto from = Clock::now();
    if (const auto why = read_more()) {
        complain_("the page cannot be made: " + why->what);
        return nullptr;
    }
    const Baseline* baseline = options_.baseline ? &*options_.baseline : nullptr;
    Policy policy = options_.policy;
    policy.now = report::rfc3339_now();
    Analysis analysis = analyse(*fleet_, policy, baseline);
    if (unreadable_ > 0)
        analysis.notes.push_back(std::to_string(unreadable_) + " stored reports cannot be read any more");
    if (claims_ > 0)
        analysis.notes.push_back(std::to_string(claims_) +
                                 " unsigned reports of machines that are known by key do not count");
    PageOptions page_options;
    page_options.made = policy.now;
    page_options.policy = options_.policy.name;
    if (baseline != nullptr) page_options.baseline = baseline->created;
    page_options.refresh_seconds = std::max(60U, options_.every_s);
    auto view = std::make_shared<View>();
    view->page = std::make_shared<const std::string>(page(*fleet_, analysis, page_options));
    view->summary =
        std::make_shared<const std::string>(summary_json(*fleet_, analysis, page_options.max_nodes));
    view->decisions = analysis.decisions;
    view->reports = fleet_->reports.size();
    view->nodes = analysis.nodes.size();
    view->made = Clock::now();
    view->seconds = std::chrono::duration<double>(view->made - from).count();
    return view;
}

std::optional<SqlError> Live::read_more() {
    auto counts = store_.counts();
    if (auto* why = std::get_if<SqlError>(&counts)) return std::move(*why);
    const auto& now = *std::get_if<Store::Counts>(&counts);
    // What retention removed is gone here too; a store without reports has no first one.
    const auto gone =
        now.reports == 0 ? numbers_.end() : std::lower_bound(numbers_.begin(), numbers_.end(), now.first_seq);
    forget(static_cast<std::size_t>(gone - numbers_.begin()));
    constexpr std::int64_t kAtOnce = 128;
    for (;;) {
        auto more = store_.after(last_, kAtOnce);
        if (auto* why = std::get_if<SqlError>(&more)) return std::move(*why);
        const auto& bodies = *std::get_if<std::vector<Body>>(&more);
        for (const Body& body : bodies) {
            last_ = body.row.seq;
            if (!take(body)) unreadable_ += 1;
        }
        // A tenth at once: each removal moves all that stay.
        if (const std::size_t most = options_.read.max_reports; numbers_.size() > most + most / 10)
            forget(numbers_.size() - most);
        if (bodies.size() < static_cast<std::size_t>(kAtOnce)) {
            drop_claims();
            return std::nullopt;
        }
        if (const std::lock_guard lock(lock_); ending_) return SqlError{"the receiver stops", true};
    }
}

bool Live::take(const Body& body) {
    std::string decoded;
    if (body.gzip) {
        bool too_large = false;
        auto whole =
            delivery::decompress(body.bytes, options_.read.max_report_bytes / 3 * 4 + 65536, &too_large);
        if (!whole) return false;
        decoded = *std::move(whole);
    }
    std::string_view report = body.gzip ? decoded : body.bytes;
    auto opened = std::variant<sign::Envelope, sign::Error>(sign::Error{});
    if (body.content_type == sign::kEnvelopeType) {
        opened = open_envelope(report);
        const auto* envelope = std::get_if<sign::Envelope>(&opened);
        if (envelope == nullptr) return false;
        report = envelope->payload;
    }
    const std::size_t before = fleet_->reports.size();
    if (add_document(*fleet_, report, options_.read)) return false;
    if (fleet_->reports.size() != before + 1) {
        fleet_->reports.resize(before);
        return false;
    }
    NodeReport& read = fleet_->reports.back();
    read.verified = body.row.verified;
    read.key = body.row.machine;  // as it was settled when it came, also where it did not know its own id
    if (read.verified) more_keyed_ |= keyed_.insert(read.key).second;
    read.created = body.row.at;  // a machine whose clock is ahead would else be the newest for years
    numbers_.push_back(body.row.seq);
    return true;
}

// What came before its machine was known by key, and nobody can tell from whom.
void Live::drop_claims() {
    if (!std::exchange(more_keyed_, false)) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
        NodeReport& report = fleet_->reports[i];
        if (!report.verified && keyed_.contains(report.key)) continue;
        if (kept != i) {
            fleet_->reports[kept] = std::move(report);
            numbers_[kept] = numbers_[i];
        }
        kept += 1;
    }
    claims_ += numbers_.size() - kept;
    fleet_->reports.resize(kept);
    numbers_.resize(kept);
}

// The oldest so many. Their names stay in the vocabulary, until they are most of it.
void Live::forget(std::size_t reports) {
    if (reports == 0) return;
    if (constexpr std::size_t kMostNames = 2'000'000;
        reports == numbers_.size() || fleet_->names.size() > kMostNames) {
        fleet_ = std::make_unique<Fleet>();
        if (reports != numbers_.size()) last_ = numbers_[reports] - 1;  // read again
        numbers_.clear();
        claims_ = 0;
        more_keyed_ = !keyed_.empty();
        return;
    }
    const auto count = static_cast<std::ptrdiff_t>(reports);
    fleet_->reports.erase(fleet_->reports.begin(), fleet_->reports.begin() + count);
    numbers_.erase(numbers_.begin(), numbers_.begin() + count);
}

}  // namespace gpucheck::fleet::collect
