// Lets a binary that carries Debian 12's static libstdc++ start on glibc 2.35 (Ubuntu 22.04): that library
// refers to arc4random(3), which is new in glibc 2.36, from std::random_device. We never use it, but the
// linker cannot know.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
    std::uint32_t value = 0;
    // A short request never fails once the kernel's pool is ready, and there is no answer for the case that
    // it does.
    if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
    return value;
}
