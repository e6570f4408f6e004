// One GPU's telemetry as table cells, whichever vendor made it.
#pragma once

#include <string>

#include "checks/model/device.h"

namespace gpucheck::listing {

std::string temperature_cell(const Device& gpu);
std::string memory_temperature_cell(const Device& gpu);
std::string power_cell(const Device& gpu);  ///< watts now/limit
std::string clock_cell(const Device& gpu);  ///< MHz of the shaders
std::string memory_clock_cell(const Device& gpu);
std::string busy_cell(const Device& gpu);
std::string memory_busy_cell(const Device& gpu);
std::string memory_cell(const Device& gpu);  ///< MiB used/total
std::string ecc_cell(const Device& gpu);     ///< uncorrectable/correctable, "off" without ECC
std::string repair_cell(const Device& gpu);  ///< remapped rows, retired pages
std::string pstate_cell(const Device& gpu);
std::string throttle_cell(const Device& gpu);  ///< why the clocks are not higher, in words
std::string links_cell(const Device& gpu);     ///< NVLink or xGMI up/all
std::string mig_cell(const Device& gpu);

/// Sum over the RAS blocks of an AMD GPU.
struct RasSum {
    bool complete = false;  ///< every block could be read
    bool any = false;       ///< at least one block prints this kind
    std::uint64_t count = 0;
};
RasSum ras_sum(const Device& gpu, Fact<std::uint64_t> RasBlock::*kind);

}  // namespace gpucheck::listing
