// The catalogue of finding codes: what each means, whose fault it is, and what to do next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/model/verdict.h"

namespace gpucheck {

struct CatalogueRow {
    std::string code, title;
    Verdict severity = Verdict::unknown;  ///< the worst verdict this code is given with
    Scope scope = Scope::unknown;
    Action action = Action::none;
    std::string cause, remedy;
    std::vector<std::string> references;
};

/// All rows, sorted by code; built from the embedded catalogue.json, events.json and xids.json on first use.
/// A row that does not parse is left out, and a test demands that none is. For one thread.
const std::vector<CatalogueRow>& catalogue();
/// The row of a code, read alone; nullptr when there is none.
const CatalogueRow* catalogue_row(std::string_view code);

}  // namespace gpucheck
