// Group commit; see writer.h.
#include "fleet/collect/writer.h"

#include <chrono>
#include <iterator>

namespace gpucheck::fleet::collect {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t now_s() {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

Writer::Writer(Store& store, std::function<void(const std::string&)> complain)
    : store_(store), complain_(std::move(complain)), thread_([this] { loop(); }) {}

Writer::~Writer() {
    finish();
}

void Writer::finish() {
    {
        const std::lock_guard lock(lock_);
        ending_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
}

bool Writer::add(Incoming report, Answer answer) {
    {
        const std::lock_guard lock(lock_);
        if (ending_ || jobs_.size() >= kMostWaiting) return false;
        jobs_.push_back({std::move(report), std::move(answer)});
    }
    wake_.notify_one();
    return true;
}

bool Writer::pulse(std::function<void(StoreFault)> answer) {
    {
        const std::lock_guard lock(lock_);
        if (ending_ || pulses_.size() >= kMostWaiting) return false;
        pulses_.push_back(std::move(answer));
    }
    wake_.notify_one();
    return true;
}

Writer::Numbers Writer::numbers() const {
    const std::lock_guard lock(lock_);
    Numbers numbers = numbers_;
    numbers.waiting = jobs_.size();
    return numbers;
}

void Writer::loop() {
    for (;;) {
        std::deque<Job> batch;
        std::vector<std::function<void(StoreFault)>> pulses;
        {
            std::unique_lock lock(lock_);
            constexpr auto kForgetEvery = std::chrono::milliseconds(500);
            wake_.wait_for(lock, kForgetEvery,
                           [this] { return ending_ || !jobs_.empty() || !pulses_.empty(); });
            if (ending_ && jobs_.empty() && pulses_.empty()) return;
            const auto end = jobs_.size() > kMostBatch ? jobs_.begin() + kMostBatch : jobs_.end();
            std::move(jobs_.begin(), end, std::back_inserter(batch));
            jobs_.erase(jobs_.begin(), end);
            pulses.swap(pulses_);
        }
        if (!batch.empty()) write(std::move(batch));
        if (!pulses.empty()) {
            const auto why = store_.pulse();
            why ? failed(*why) : went_well();
            for (const auto& answer : pulses) answer(why ? why->fault : StoreFault::none);
        }
        forget_some();
    }
}

void Writer::write(std::deque<Job> batch) {
    std::vector<const Incoming*> reports;
    reports.reserve(batch.size());
    for (const Job& job : batch) reports.push_back(&job.report);
    const auto from = Clock::now();
    auto taken = store_.add(reports);
    const double seconds = std::chrono::duration<double>(Clock::now() - from).count();
    if (const auto* why = std::get_if<SqlError>(&taken)) {
        failed(*why);
        if (!why->lost) return one_by_one(batch);
        for (const Job& job : batch) job.answer(std::nullopt);
        return;
    }
    {
        const std::lock_guard lock(lock_);
        numbers_.commits += 1;
        numbers_.written += batch.size();
        numbers_.commit_s += seconds;
        numbers_.fault = StoreFault::none;
    }
    const auto& each = *std::get_if<std::vector<Taken>>(&taken);
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i].answer(each[i]);
}

// One report that the database does not take must not take 511 others with it.
void Writer::one_by_one(std::deque<Job>& batch) {
    for (Job& job : batch) {
        auto taken = store_.add({&job.report});
        if (const auto* each = std::get_if<std::vector<Taken>>(&taken))
            job.answer(each->front());
        else
            job.answer(std::get_if<SqlError>(&taken)->lost ? std::nullopt : std::optional(Taken::unreadable));
    }
}

void Writer::forget_some() {
    std::int64_t before = forget_before_ms_;
    constexpr std::int64_t kMost = 256;
    if (before <= 0) return;
    const auto removed = store_.forget(before, kMost);
    if (const auto* why = std::get_if<SqlError>(&removed)) return failed(*why);
    const auto count = *std::get_if<std::int64_t>(&removed);
    if (count < kMost) forget_before_ms_.compare_exchange_strong(before, 0);
    const std::lock_guard lock(lock_);
    numbers_.forgotten += static_cast<std::uint64_t>(count);
}

void Writer::went_well() {
    const std::lock_guard lock(lock_);
    numbers_.fault = StoreFault::none;
}

void Writer::failed(const SqlError& why) {
    {
        const std::lock_guard lock(lock_);
        numbers_.failed += 1;
        if (why.lost) numbers_.fault = why.fault;
    }
    constexpr std::int64_t kEvery = 5;
    if (now_s() < next_complaint_s_) return;
    next_complaint_s_ = now_s() + kEvery;
    complain_("the store: " + why.what);
}

}  // namespace gpucheck::fleet::collect
