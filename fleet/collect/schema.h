// The tables and how an older version's become today's: a database outlives many programs, and one that a
// newer program made must not be written by an older one.
#pragma once

#include <cstdint>
#include <optional>

#include "fleet/collect/sql.h"

namespace gpucheck::fleet::collect {

inline constexpr std::int64_t kSchemaVersion = 3;

/// Brings the tables to `to` (kSchemaVersion, or an older one for tests), each step in a transaction of its
/// own with its row in gpucheck_fleet_schema.
std::optional<SqlError> migrate(Sql& sql, std::int64_t to = kSchemaVersion);

}  // namespace gpucheck::fleet::collect
