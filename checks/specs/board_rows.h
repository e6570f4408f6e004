// One row of gpus.json, checked member by member.
#pragma once

#include "checks/specs/boards.h"
#include "checks/specs/row_reader.h"

namespace gpucheck {

/// Complaints go to `reader`; the row means something only while reader.ok().
BoardRow read_board_row(const Json& row, RowReader& reader);

/// The peak that a floor is measured against, from the row; nullopt when the row does not know it.
std::optional<Figure> peak_of_floor(const BoardRow& row, const Floor& floor);

}  // namespace gpucheck
