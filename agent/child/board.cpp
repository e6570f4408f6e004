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

void Board::announce(std::string_view what) {
    const std::size_t length = std::min(what.size(), text_.size() - 1);
    std::memcpy(text_.data(), what.data(), length);
    text_[length] = '\0';
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
