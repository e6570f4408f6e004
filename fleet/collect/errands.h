// A thread for what may take long: a question to the database must not hold a thread that receives reports.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace gpucheck::fleet::collect {

class Errands {
  public:
    Errands() : thread_([this] { loop(); }) {}
    ~Errands() { finish(); }
    Errands(const Errands&) = delete;
    Errands& operator=(const Errands&) = delete;

    /// False: too many wait already, or it is over.
    bool run(std::function<void()> errand) {
        constexpr std::size_t kMost = 256;
        const std::lock_guard lock(lock_);
        if (ending_ || errands_.size() >= kMost) return false;
        errands_.push_back(std::move(errand));
        wake_.notify_one();
        return true;
    }
    /// Runs what waits and ends.
    void finish() {
        {
            const std::lock_guard lock(lock_);
            ending_ = true;
        }
        wake_.notify_one();
        if (thread_.joinable()) thread_.join();
    }

  private:
    void loop() {
        std::unique_lock lock(lock_);
        for (;;) {
            wake_.wait(lock, [this] { return ending_ || !errands_.empty(); });
            if (errands_.empty()) return;
            const auto errand = std::move(errands_.front());
            errands_.pop_front();
            lock.unlock();
            errand();
            lock.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> errands_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace gpucheck::fleet::collect
