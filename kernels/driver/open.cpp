// Chooses the vendor's library, and clears the way to it: variables that hide GPUs, memory on the wrong
// socket.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "kernels/driver/vendors.h"

namespace gpucheck::gpu {

std::variant<std::unique_ptr<Driver>, Missing> open_driver(Vendor vendor, const vendor::LibrarySource& source,
                                                           child::Reporter& reporter) {
    return vendor == Vendor::amd ? open_hip(source, reporter) : open_cuda(source, reporter);
}

std::string library_of(Vendor vendor) {
    return vendor == Vendor::amd ? "libamdhip64.so" : "libcuda.so.1";
}

void neutralise_environment() {
    // CUDA C++ Programming Guide, "CUDA environment variables"; ROCm, "GPU isolation techniques".
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                             "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_LAUNCH_BLOCKING",
                             "HSA_OVERRIDE_GFX_VERSION", "AMD_SERIALIZE_KERNEL", "AMD_SERIALIZE_COPY"}) {
        ::unsetenv(name);
    }
    ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
}

void prefer_numa_node(int node) {
    constexpr int kPreferred = 1;  // MPOL_PREFERRED of <linux/mempolicy.h>
    constexpr int kBits = 64;
    std::array<unsigned long, 16> mask{};
    if (node < 0 || static_cast<std::size_t>(node) >= mask.size() * kBits) return;
    mask[static_cast<std::size_t>(node) / kBits] = 1UL << (node % kBits);
    // Without a way to say so memory comes from anywhere, as it would have: the copies' speed will tell.
    static_cast<void>(::syscall(SYS_set_mempolicy, kPreferred, mask.data(), mask.size() * kBits));
}

}  // namespace gpucheck::gpu
