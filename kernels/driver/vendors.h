// The two vendors' drivers, for open_driver alone.
#pragma once

#include "kernels/driver/driver.h"

namespace gpucheck::gpu {

std::variant<std::unique_ptr<Driver>, Missing> open_cuda(const vendor::LibrarySource& source,
                                                         child::Reporter& reporter);
std::variant<std::unique_ptr<Driver>, Missing> open_hip(const vendor::LibrarySource& source,
                                                        child::Reporter& reporter);

}  // namespace gpucheck::gpu
