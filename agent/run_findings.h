// What only the run itself can tell: who was asked in vain, who contradicts whom, what was left out. A check
// reads a snapshot and knows none of it, and without these findings such a run would look whole.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "agent/expectations.h"
#include "checks/model/finding.h"

namespace gpucheck {

/// host.read.hangs: files and steps that gave no answer within `stall` and were left out.
Findings refused_findings(const std::vector<std::string>& refused, std::chrono::milliseconds stall);

/// expect.conflict, instance.conflict and instance.type.unknown. `identities`: sentences of identify().
Findings promise_findings(const Promised& promise, const std::vector<std::string>& identities);

/// run.out_of_time. `last_step`: where the child that worked was; empty: at the start.
Finding out_of_time_finding(std::chrono::milliseconds budget, const std::string& last_step);

}  // namespace gpucheck
