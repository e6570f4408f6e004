// One row of each data file, checked member by member: a wrong unit in a price table is a wrong purchase.
#pragma once

#include "checks/cost/data/tables.h"
#include "checks/specs/row_reader.h"

namespace gpucheck::cost {

// Complaints go to `reader`; a row means something only while reader.ok().
LlmModel read_model(const Json& row, RowReader& reader);
BoardRates read_rates(const Json& row, RowReader& reader);
ReferenceRow read_reference(const Json& row, RowReader& reader);
PriceRow read_price(const Json& row, RowReader& reader);
FacilityPower read_power(const Json& row, RowReader& reader);

}  // namespace gpucheck::cost
