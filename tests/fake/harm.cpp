// Hangs, crashes, exits and floods, as drivers in the field do; see README.md for the words.
#include "harm.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>
#include <string_view>
#include <vector>

namespace fake {
namespace {

void write_all(int descriptor, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t count = ::write(descriptor, data, size);
        if (count <= 0) return;
        data += count;
        size -= static_cast<std::size_t>(count);
    }
}

/// Every pipe that the process inherited: a library that logs to the wrong descriptor.
std::vector<int> pipes() {
    std::vector<int> found;
    for (int descriptor = 0; descriptor < 256; ++descriptor) {
        struct stat status {};
        if (::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode)) found.push_back(descriptor);
    }
    return found;
}

void flood_pipes() {
    const std::string text(4096, 'x');
    for (;;) {
        for (const int descriptor : pipes()) write_all(descriptor, (text + "\n").data(), text.size() + 1);
    }
}

void junk_pipes() {
    const char junk[] = "\x00\xff\xfe\x80{\"ecc.current\":\x01\n\x00\x00";
    for (const int descriptor : pipes()) write_all(descriptor, junk, sizeof junk);
}

void flood_output() {
    const std::string text(1U << 16, 'y');
    for (int i = 0; i < 64; ++i) {
        write_all(STDOUT_FILENO, text.data(), text.size());
    }
}

}  // namespace

bool is_harm(const std::string& what) {
    constexpr std::array<std::string_view, 9> kWords{"hang",  "segv",  "abort", "exit0", "exit3",
                                                     "throw", "flood", "junk",  "noise"};
    for (const std::string_view word : kWords) {
        if (what == word) return true;
    }
    return false;
}

bool harm(const std::string& what) {
    if (what == "hang") {
        for (;;) ::pause();
    } else if (what == "segv") {
        ::raise(SIGSEGV);
    } else if (what == "abort") {
        std::abort();
    } else if (what == "exit0") {
        std::exit(0);
    } else if (what == "exit3") {
        std::exit(3);
    } else if (what == "throw") {
        throw std::bad_alloc();
    } else if (what == "flood") {
        flood_pipes();
    } else if (what == "junk") {
        junk_pipes();
    } else if (what == "noise") {
        flood_output();
    }
    return is_harm(what);
}

}  // namespace fake
