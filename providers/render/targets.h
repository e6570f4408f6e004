// One function for each target; see render.h.
#pragma once

#include "providers/render/told.h"

namespace gpucheck::faults {

void render_azure(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                  Rendering& into);
void render_gcp(const ReportFacts& report, const Place& place, const std::vector<Told>& all, Rendering& into);
void render_aws(const ReportFacts& report, const Place& place, const std::vector<Told>& all, Rendering& into);
void render_oci(const ReportFacts& report, const Place& place, const std::vector<Told>& all, Rendering& into);
void render_do(const ReportFacts& report, const Place& place, const std::vector<Told>& all, Rendering& into);
void render_k8s(const ReportFacts& report, const Place& place, const std::vector<Told>& all, Rendering& into);
void render_nvsentinel(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                       Rendering& into);
void render_npd(const ReportFacts& report, const Place& place, const std::vector<Told>& all, Rendering& into);
void render_line(const ReportFacts& report, const Place& place, const std::vector<Told>& all,
                 Rendering& into);

}  // namespace gpucheck::faults
