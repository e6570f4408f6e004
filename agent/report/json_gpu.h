// The parts of the JSON report that describe the machine rather than judge it.
#pragma once

#include "agent/report/json_text.h"
#include "checks/model/snapshot.h"
#include "checks/model/verdict.h"

namespace gpucheck::report {

void write_host(JsonText& json, const Host& host);
void write_gpu(JsonText& json, const Device& gpu, const Expectations& expected, Verdict verdict);

/// The members "experiments" and "measurements" of a GPU; nothing when none were run.
void write_measurements(JsonText& json, const BurnIn& burn_in);

}  // namespace gpucheck::report
