// Libraries that do harm as soon as they are loaded, as a half-installed driver's do.
#include <csignal>

#include <unistd.h>

namespace {

[[gnu::constructor]] void do_harm() {
#ifdef GPUCHECK_TEST_CRASHES
    ::raise(SIGSEGV);
#else
    for (;;) ::pause();
#endif
}

}  // namespace
