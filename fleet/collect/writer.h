// One thread that writes: whatever arrived while the last commit waited for the disk goes into the next one,
// so that 2,000 durable reports a second need some hundred syncs and not 2,000.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fleet/collect/store.h"

namespace gpucheck::fleet::collect {

class Writer {
  public:
    /// Called on the writer's thread. nullopt: the store cannot take it now.
    using Answer = std::function<void(std::optional<Taken>)>;

    /// `complain` gets one sentence where the store fails, at most one every few seconds.
    Writer(Store& store, std::function<void(const std::string&)> complain);
    ~Writer();

    /// False: the queue is full, and `answer` is never called.
    bool add(Incoming report, Answer answer);
    /// Writes and commits something; one at a time answers all that ask meanwhile.
    bool pulse(std::function<void(StoreFault)> answer);
    /// What was received before this goes, some hundred at a time, between reports. 0: nothing.
    void forget_before(std::int64_t received_ms) { forget_before_ms_ = received_ms; }
    /// Writes what is in the queue and ends.
    void finish();

    struct Numbers {
        std::size_t waiting = 0;
        std::uint64_t commits = 0, written = 0, failed = 0, forgotten = 0;
        double commit_s = 0;                  ///< all together
        StoreFault fault = StoreFault::none;  ///< of the last try
    };
    Numbers numbers() const;

  private:
    struct Job {
        Incoming report;
        Answer answer;
    };
    void loop();
    void write(std::deque<Job> batch);
    void one_by_one(std::deque<Job>& batch);
    void forget_some();
    void failed(const SqlError& why);
    void went_well();

    static constexpr std::size_t kMostWaiting = 8192, kMostBatch = 512;

    Store& store_;
    std::function<void(const std::string&)> complain_;
    mutable std::mutex lock_;
    std::condition_variable wake_;
    std::deque<Job> jobs_;
    std::vector<std::function<void(StoreFault)>> pulses_;
    bool ending_ = false;
    Numbers numbers_;
    std::atomic<std::int64_t> forget_before_ms_ = 0;
    std::int64_t next_complaint_s_ = 0;
    std::thread thread_;
};

}  // namespace gpucheck::fleet::collect
