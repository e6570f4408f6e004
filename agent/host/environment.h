// The environment of the judged process: a variable left over from debugging hides GPUs or makes them ten
// times slower. Only names that matter are looked at, and nothing that may be a secret ever leaves this file.
#pragma once

#include <string>
#include <string_view>

#include "agent/host/sysroot.h"
#include "checks/model/host.h"

namespace gpucheck::host {

/// Is `name` on the list of variables that matter and no secret? Names with TOKEN, KEY, SECRET, PASSWORD or
/// the like never are.
bool is_relevant_variable(std::string_view name);
/// The value as it may be shown: credentials in URLs removed, at most 4096 bytes, "(not text)" for binary.
std::string presentable_value(std::string_view name, std::string_view value);
/// `text` without the user and password of the URLs in it.
std::string without_credentials(std::string_view text);

/// The process to judge for: ids, user namespace, the variables that matter, and the time.
Process read_process(const Sysroot& root);

}  // namespace gpucheck::host
