// What a working child says to the parent that watches it, in a page that both see: when a sick device hangs
// the child, its last announcement is still there and names the culprit.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gpucheck::child {

/// The page. What is in it is only as trustworthy as the child: integers that may have any value, and text
/// without a promised end.
class Board {
  public:
    /// Child: names the step that begins now, cut to what fits.
    void announce(std::string_view what);
    /// Child: the same, for a step that may take `at_most` before it counts as one that hangs.
    void announce(std::string_view what, std::chrono::milliseconds at_most);
    /// Child: from here on steps are announced no more.
    void set_quiet() { quiet_.store(1, std::memory_order_release); }
    /// Child: what it found stands; the rest is telling it.
    void set_concluded() { quiet_.store(2, std::memory_order_release); }
    /// Child: it could not even begin; an errno.
    void set_error(int error) { error_.store(error, std::memory_order_release); }

    /// Parent: changes with every announcement.
    std::uint64_t sequence() const { return sequence_.load(std::memory_order_acquire); }
    /// Parent: what the step was given; 0: nothing special.
    std::chrono::milliseconds allowance() const {
        return std::chrono::milliseconds(allowance_ms_.load(std::memory_order_acquire));
    }
    bool quiet() const { return quiet_.load(std::memory_order_acquire) != 0; }
    bool concluded() const { return quiet_.load(std::memory_order_acquire) == 2; }
    int error() const { return error_.load(std::memory_order_acquire); }
    /// Parent: the last announcement; may be torn when the child announces at this moment.
    std::string text() const;

  private:
    std::atomic<std::uint64_t> sequence_{0};
    std::atomic<std::uint32_t> quiet_{0};
    std::atomic<std::uint32_t> allowance_ms_{0};
    std::atomic<int> error_{0};
    std::array<char, 2048> text_{};
};

struct UnmapBoard {
    void operator()(Board* board) const;
};
/// Of memory that forked children share; an abandoned child keeps its own view of it.
using SharedBoard = std::unique_ptr<Board, UnmapBoard>;
/// nullptr, and errno, when there is no memory.
SharedBoard make_board();

/// Waits for a child that was killed, for at most `limit`: what hangs inside the kernel does not end. True
/// when nothing is left to wait for.
bool reaped_within(pid_t child, std::chrono::milliseconds limit);

}  // namespace gpucheck::child
