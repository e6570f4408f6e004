// Cuts a stream of bytes into JSON documents without holding more than one of them: reports one after the
// other, one a line, or inside a summary document of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "fleet/read/summary_tally.h"

namespace gpucheck::fleet {

/// The first member of a summary document; its value is the version.
inline constexpr std::string_view kSummaryKey = "gpucheck_summary";

struct Piece {
    enum class Kind : std::uint8_t {
        document,  ///< a report, condensed or not, or an envelope
        rejected,  ///< a row of a summary's "rejected"
        broken,    ///< none; `text` says why
    } kind = Kind::document;
    std::string_view text;
    std::size_t line = 1;  ///< of its first byte
};

class Splitter {
  public:
    using Take = std::function<void(const Piece&)>;
    Splitter(std::size_t max_bytes, Take take) : max_bytes_(max_bytes), take_(std::move(take)) {}
    void feed(std::string_view bytes);
    /// The end of the stream; what is open is cut off.
    void finish();
    /// Too much of it was broken: nothing more is read.
    bool gave_up() const { return mode_ == Mode::stopped; }
    std::size_t line() const { return line_; }
    /// Something was there, whole or broken.
    bool saw_any() const { return saw_any_; }

  private:
    enum class Mode : std::uint8_t { between, inside, garbage, resync, stopped };
    enum class List : std::uint8_t { none, reports, conflicting, rejected, nodes };

    std::size_t run_length(std::string_view bytes) const;
    void keep(std::string_view bytes);
    void step(char c);
    void step_inside(char c);
    void open_bracket(char c);
    void close_bracket();
    void end_text();
    void begin_document();
    void begin_item();
    void emit(Piece::Kind kind);
    void broken(std::string_view why, std::size_t line, Mode next);
    void cut_off(std::string_view why, Mode next);
    void begin_counts();
    void count_item();
    bool item_list() const { return summary_ && list_ != List::none && list_ != List::nodes; }
    bool in_node() const { return summary_ && list_ == List::nodes && depth_ == 3; }
    bool reads_text() const { return (depth_ == 1 && (summary_ || texts_ == 0)) || in_node(); }

    std::size_t max_bytes_;
    Take take_;
    Mode mode_ = Mode::between;
    std::size_t line_ = 1, held_line_ = 1, depth_ = 0;
    std::size_t broken_ = 0, restarts_ = 0;
    bool saw_any_ = false, line_start_ = true, in_text_ = false, escaped_ = false;
    std::string held_;  // the document so far
    bool holding_ = false;
    std::size_t held_depth_ = 0;  // it ends when the depth is this again
    std::string text_;            // the last text of depth 1, or of a node of a summary
    std::string before_;          // and the one before it in the node
    std::size_t texts_ = 0;       // texts of depth 1
    bool summary_ = false, reports_seen_ = false;
    std::size_t reports_ = 0;
    List list_ = List::none;
    bool counting_ = false;  // what is held is the summary's counts
    SummaryTally tally_;
};

/// Its first member says so.
bool is_summary(std::string_view text);

}  // namespace gpucheck::fleet
