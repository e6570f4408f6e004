// LD_PRELOAD: opening a file never comes back, as on a device or a mount that hangs; only in children of the
// program.
//
// GPUCHECK_TEST_HANGS is how the path ends; empty: every file.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <string>

namespace {

const pid_t kProgram = ::getpid();

bool hangs(int folder, const std::string& name) {
    const char* given = std::getenv("GPUCHECK_TEST_HANGS");
    if (given == nullptr || ::getpid() == kProgram || name == ".") return false;
    char path[PATH_MAX];
    const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(folder)).c_str(), path, sizeof path);
    return (std::string(path, size > 0 ? static_cast<std::size_t>(size) : 0) + "/" + name).ends_with(given);
}

}  // namespace

extern "C" int openat(int folder, const char* name, int flags, ...) {
    while (hangs(folder, name)) ::pause();
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    using Open = int (*)(int, const char*, int, ...);
    static const Open real = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, "openat"));
    return real(folder, name, flags, mode);
}
