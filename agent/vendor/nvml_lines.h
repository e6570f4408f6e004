// The facts a child told, put back into their struct: every line is a stranger's, and what was not told is
// Missing with the reason why, never a default.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checks/json/json.h"
#include "checks/model/fact.h"
#include "checks/model/host.h"
#include "checks/model/nvidia_telemetry.h"

namespace gpucheck::vendor::nvml {

/// What the lines of one child said: `{"ecc.current":{"value":true,"source":"nvmlDeviceGetEccMode"}}`, path
/// to fact. The first word on a path counts; what is no such line is passed over.
class Told {
  public:
    explicit Told(const std::vector<std::string>& lines);

    /// Fills every fact; one without a line is what the child said of the rest, else `otherwise`.
    void fill(NvidiaTelemetry& telemetry, const Missing& otherwise) const;
    void fill(NvmlSystem& system, const Missing& otherwise) const;

  private:
    std::map<std::string, Json, std::less<>> facts_;
};

}  // namespace gpucheck::vendor::nvml
