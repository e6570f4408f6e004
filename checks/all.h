// The check objects, one from each file, for the explicit list in all.cpp.
#pragma once

#include "checks/model/check.h"

namespace gpucheck {

extern const Check kClockCheck;
extern const Check kKernelLogCheck;

}  // namespace gpucheck
