// What a capture tried: without it, a file that nobody asked for would look like one that the machine does
// not have.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpucheck::host {

/// Does `path` match `pattern`: `*` and `?` within one component, `**` across components.
bool path_matches(std::string_view pattern, std::string_view path);

/// The patterns of captured.txt. A capture writes thousands of exact ones, so those are looked up and not
/// tried one by one.
class CapturedPaths {
  public:
    void add(std::string_view pattern);
    /// Was `path` tried? `as_folder`: its listing was, because it or something below it is covered.
    bool covers(std::string_view path, bool as_folder) const;

  private:
    std::set<std::string, std::less<>> exact_, listed_,
        trees_;                                     ///< "P", "P/*" and "P/**", as P without wildcards
    std::vector<std::vector<std::string>> others_;  ///< components
};

}  // namespace gpucheck::host
