// One document of any kind that holds one report.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/model/fleet.h"
#include "fleet/read/keys.h"
#include "fleet/read/members.h"

namespace gpucheck::fleet {

class DocumentReader {
  public:
    explicit DocumentReader(const Keys* keys) : keys_(keys) {}
    /// Adds its report to the fleet; the error is a sentence without a subject: "is cut off". A report that
    /// does not say where it was read was read at `where`.
    std::optional<std::string> read(Fleet& fleet, std::string_view text, std::string_view where);
    /// Adds a row of a summary's "rejected".
    std::optional<std::string> read_rejected(Fleet& fleet, std::string_view text);
    /// The last text was JSON: what was wrong with it was what it says.
    bool was_json() const { return was_json_; }

  private:
    std::optional<dom::element> parse(std::string_view text, Flaw& flaw);
    NodeReport read_parsed(dom::element document, std::string_view text, Vocabulary& names, Flaw& flaw);

    const Keys* keys_;  // nullptr: signatures are not checked
    dom::parser parser_;
    bool was_json_ = false;
};

}  // namespace gpucheck::fleet
