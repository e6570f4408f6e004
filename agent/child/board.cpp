// The page between child and parent; see board.h.
#include "agent/child/board.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <thread>

namespace gpucheck::child {
namespace {

constexpr std::int64_t kMostAllowedMs = 86'400'000;

}  // namespace

void Board::announce(std::string_view what) {
    announce(what, std::chrono::milliseconds(0));
}

void Board::announce(std::string_view what, std::chrono::milliseconds at_most) {
    const std::size_t length = std::min(what.size(), text_.size() - 1);
    std::memcpy(text_.data(), what.data(), length);
    text_[length] = '\0';
    allowance_ms_.store(
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(at_most.count(), 0, kMostAllowedMs)),
        std::memory_order_release);
    sequence_.fetch_add(1, std::memory_order_acq_rel);
}

std::string Board::text() const {
    return std::string(text_.data(), ::strnlen(text_.data(), text_.size()));
}

void UnmapBoard::operator()(Board* board) const {
    ::munmap(board, sizeof(Board));
}

SharedBoard make_board() {
    void* page = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return SharedBoard(page == MAP_FAILED ? nullptr : ::new (page) Board());
}

bool reaped_within(pid_t child, std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const pid_t done = ::waitpid(child, nullptr, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) return true;
        if (std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace gpucheck::child
