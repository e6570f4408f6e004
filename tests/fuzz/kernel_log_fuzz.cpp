// libFuzzer entry for the kernel-log parser (built with clang only).
#include "tests/fuzz/kernel_log_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    gpucheck::host::check_any_log(data, size);
    return 0;
}
