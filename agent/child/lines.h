// Takes what a child wrote apart into lines of text, and notices when it is none: a vendor library gone
// astray may write anything into any descriptor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpucheck::child {

class Lines {
  public:
    enum class State {
        open,     ///< more may come
        ended,    ///< the end mark came: the task returned
        starved,  ///< its other mark came: the task ran out of memory
        flooded,  ///< more bytes, or a longer line, than allowed
        garbage,  ///< bytes that are no lines of text
    };

    /// `mark` is the line that only a task that returned writes (`mark` + "!": one that ran out of memory).
    /// It begins with a byte that no line may hold.
    Lines(std::string mark, std::size_t max_bytes, std::size_t max_line);
    /// Nothing more is taken once the state is not open.
    State take(std::string_view bytes);
    State state() const { return state_; }
    /// Complete lines so far. What follows the last newline is no line.
    const std::vector<std::string>& lines() const { return lines_; }
    std::vector<std::string> release() { return std::move(lines_); }

  private:
    State line(std::string_view text);

    std::string mark_;
    std::size_t max_bytes_, max_line_, bytes_ = 0;
    State state_ = State::open;
    std::string rest_;
    std::vector<std::string> lines_;
};

}  // namespace gpucheck::child
