// Whether a GPU may still be on its way into the NVSwitch fabric: said once, because links, fabric state and
// the fabric manager are judged apart and must not contradict each other during the first minutes after boot.
#pragma once

#include "checks/telemetry_facts.h"

namespace gpucheck {

/// The fabric manager needs tens of seconds on eight-GPU machines and minutes on slow ones (cases of CUDA
/// error 802 "not yet" at boot: wilicc/gpu-burn#92); after this much uptime waiting is no explanation any
/// more.
inline constexpr double kFabricDeadlineS = 300;

inline constexpr std::string_view kFabricManager = "nvidia-fabricmanager.service";

/// "in_progress" or "not_started": registered with nobody yet.
bool fabric_unfinished(const Device& gpu);
/// The machine is too young, or its age is not known, to call an unfinished registration a fault.
bool fabric_may_come(const Host& host);
/// The machine has an NVSwitch fabric of its own, which somebody here has to manage: bare metal with NVSwitch
/// functions, or a board whose switches are no PCI functions of the host (Blackwell).
bool owns_fabric(const Host& host, const Device& gpu);

}  // namespace gpucheck
