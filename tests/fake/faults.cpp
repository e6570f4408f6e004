// Hangs, crashes, exits, floods and lies, as drivers in the field do; see README.md for the words.
#include "faults.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

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

const Fault* fault_of(const std::string& call, const Gpu* gpu) {
    for (Fault& fault : scenario().faults) {
        if (fault.call != "*" && fault.call != call) continue;
        if (!fault.gpu.empty() && (gpu == nullptr || gpu->address != fault.gpu)) continue;
        if (fault.seen++ < fault.after) continue;
        return &fault;
    }
    return nullptr;
}

void suffer(const Fault& fault) {
    const std::string& what = fault.what;
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
}

bool spoil(const Fault& fault, const std::vector<Region>& regions) {
    unsigned state = 12345;
    for (const Region& region : regions) {
        auto* bytes = static_cast<unsigned char*>(region.data);
        if (fault.what == "ones") {
            std::memset(bytes, 0xff, region.size);
        } else if (fault.what == "unterminated") {
            std::memset(bytes, 'A', region.size);
        } else if (fault.what == "random") {
            for (std::size_t i = 0; i < region.size; ++i) {
                state = state * 1664525U + 1013904223U;
                bytes[i] = static_cast<unsigned char>(state >> 24);
            }
        } else if (fault.what != "untouched") {
            return false;
        }
    }
    return true;
}

}  // namespace fake
