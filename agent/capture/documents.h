// The files of a recorded machine beside its sysroot, as text.
#pragma once

#include <string>

#include "agent/capture/recording.h"

namespace gpucheck::capture {

std::string nodes_json(const Recording& recording);
std::string process_json(const host::RecordedProcess& process);
std::string captured_txt(const Recording& recording);
/// What it is and where from, without a word that identifies: kernel, distribution, and what was replaced.
std::string readme(const Recording& recording);

}  // namespace gpucheck::capture
