// What one thread found for the others to parse, bounded: a disk that is faster than the parser must not fill
// memory.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "fleet/read/splitter.h"

namespace gpucheck::fleet {

/// A file or a stream, and what was wrong in it.
struct Source {
    std::string where;
    std::mutex lock;
    std::size_t broken = 0;
    std::size_t first_line = 0;
    std::string first_why;
};

struct Work {
    std::shared_ptr<Source> source;
    std::string text;
    std::size_t line = 0;  ///< 0: a whole file, as it lies on disk
    Piece::Kind kind = Piece::Kind::document;
};

class Queue {
  public:
    /// Waits for room.
    void push(Work work) {
        std::unique_lock hold(lock_);
        room_.wait(hold, [&] { return bytes_ < kMostBytes || waiting_.empty(); });
        bytes_ += work.text.size();
        waiting_.push_back(std::move(work));
        filled_.notify_one();
    }
    /// Waits for work; nullopt: there will be no more.
    std::optional<Work> pop() {
        std::unique_lock hold(lock_);
        filled_.wait(hold, [&] { return closed_ || !waiting_.empty(); });
        if (waiting_.empty()) return std::nullopt;
        Work work = std::move(waiting_.front());
        waiting_.pop_front();
        bytes_ -= work.text.size();
        room_.notify_one();
        return work;
    }
    void close() {
        const std::lock_guard hold(lock_);
        closed_ = true;
        filled_.notify_all();
    }

  private:
    static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
    std::mutex lock_;
    std::condition_variable room_, filled_;
    std::deque<Work> waiting_;
    std::size_t bytes_ = 0;
    bool closed_ = false;
};

}  // namespace gpucheck::fleet
