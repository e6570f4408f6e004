// What each finding code is called in the words of each provider: a fault filed under the wrong word sends
// the wrong team, or takes a machine away that a reset would have mended.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpucheck::faults {

/// One row of faults.json.
struct FaultRow {
    std::string tag;         ///< of DigitalOcean's tags: "gpu-missing"
    std::string azure;       ///< after "Resource.Hpc.Unhealthy."
    std::string gcp, gke;    ///< behavior of reportHostAsFaulty; value of the GKE label
    std::string aws;         ///< ReasonCode
    std::string nvsentinel;  ///< RecommendedAction
};

class FaultTable {
  public:
    /// The embedded faults.json; the text says what is wrong with it.
    static const std::variant<FaultTable, std::string>& embedded();
    static std::variant<FaultTable, std::string> parse(std::string_view text);

    /// The row of a code: by its own name, else by the longest pattern ("xid.*"). nullptr when nobody is told
    /// of it.
    const FaultRow* row(std::string_view code) const;
    /// Why nobody is told of a code that is listed as not offered; empty when it is not.
    std::string_view why_not(std::string_view code) const;
    /// Every code or pattern that is listed.
    std::vector<std::string> codes() const;

  private:
    struct Entry {
        std::string code;  ///< or a beginning, with its dot
        bool pattern = false;
        std::size_t row = 0;  ///< of rows_; unused when `why` is set
        std::string why;
    };
    const Entry* entry(std::string_view code) const;
    std::vector<FaultRow> rows_;
    std::vector<Entry> entries_;
};

}  // namespace gpucheck::faults
