// amdgpu's text files as numbers: an error count that is misread sells a broken memory as a good one.
#pragma once

#include <string>
#include <string_view>

#include "checks/model/amd_telemetry.h"
#include "checks/model/fact.h"

namespace gpucheck::vendor {

/// ras/NAME_err_count: lines "ue: 0", "ce: 0" and on newer kernels "de: 0". A kind that is not printed is
/// Missing ENOENT; a sentence instead of counts ("Query currently inaccessible") is the reason of all three.
RasBlock parse_err_count(std::string name, const Fact<std::string>& content);

/// ras/gpu_vram_bad_pages: lines "0x0000012a : 0x00001000 : R". One bad line makes all counts Missing.
Fact<BadPages> parse_bad_pages(const Fact<std::string>& content);

/// pp_dpm_sclk and its kin: lines "1: 800Mhz *", also "S: 132Mhz *" in deep sleep.
struct DpmClocks {
    Fact<unsigned> now_mhz, highest_mhz;
};
DpmClocks parse_dpm(const Fact<std::string>& content);

}  // namespace gpucheck::vendor
