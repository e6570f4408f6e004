// Healthy AMD GPUs with the telemetry that they show: what no check may complain about.
#pragma once

#include "checks/model/check.h"

namespace gpucheck {

/// The fixture of healthy.h with telemetry: eight MI300X, gpu_metrics 1.7, read twice in 30 s under load.
/// Their lifetime totals show much throttling at the power limit and some because of heat; this run shows
/// power only.
Snapshot telling_mi300x_x8();
/// The same in CPX.
Snapshot telling_mi300x_x8_cpx();
/// One MI300X virtual function: sensors, a limit that it cannot set, no RAS, no PCIe counters.
Snapshot telling_mi300x_vf();
/// Two MI210 with gpu_metrics 1.3: no residencies, RAS counts that reset on read, no deferred counts.
Snapshot telling_mi210_x2();
/// Eight MI350X with gpu_metrics 1.9, 1000 W.
Snapshot telling_mi350x_x8();

}  // namespace gpucheck
