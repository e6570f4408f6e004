// The GPUs of a machine as short cells for a table, shared by text and HTML.
#pragma once

#include <string>
#include <vector>

#include "agent/report/view.h"

namespace gpucheck::report {

/// One line of the GPU table; all cells `plain`.
struct GpuRow {
    std::string gpu, board, driver, link, nodes, partition;
    Verdict verdict = Verdict::unknown;
};

/// "GPU", "Board", ... in the order of GpuRow's members.
const std::vector<std::string>& gpu_header();
std::vector<std::string> cells(const GpuRow& row);

/// One row a GPU. From `fold_above` GPUs on, GPUs that look alike share a row ("0000:05:00.0 +15").
std::vector<GpuRow> gpu_rows(const Report& report, const View& view, std::size_t fold_above = 16);

/// A GPU without a complaint whose link now runs below what is expected: needs a sentence, or it reads as a
/// fault.
bool some_link_rests(const Report& report, const View& view);

}  // namespace gpucheck::report
