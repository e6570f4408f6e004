// What is in a folder, by an open descriptor: the spool's folder may be replaced while we read it.
#pragma once

#include <string>
#include <vector>

namespace gpucheck::delivery {

/// Names in order, without those that begin with a dot.
std::vector<std::string> names_in(int folder);
/// The temporary names of disk::write_new.
std::vector<std::string> temporaries_in(int folder);

}  // namespace gpucheck::delivery
