// Finds the elements of an array in JSON text without building a value of any: of the tables inside the
// binary a run needs two rows of hundreds, and building them all was half of what a quick run did.
#pragma once

#include <string_view>
#include <vector>

namespace gpucheck {

/// The text of each element of the array that is the member `name` of the object `document`; empty when there
/// is no such array. For our own files, which a test has parsed as a whole: what is no JSON gives pieces that
/// are none either, or none.
std::vector<std::string_view> elements_of(std::string_view document, std::string_view name);

}  // namespace gpucheck
