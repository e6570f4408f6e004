// Tables and paragraphs of plain text that fit a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpucheck::report {

/// `text` broken at blanks to lines of at most `width` columns. `first` begins the first line, as many blanks
/// as it has columns begin the others; a word that is longer than a line stands alone. Ends with a newline.
std::string paragraph(std::string_view first, std::string_view text, std::size_t width);

/// Columns as wide as their widest cell; a column without a cell is left out.
class Table {
  public:
    explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    /// Columns of a whole row.
    std::size_t natural_width() const;
    /// When every row has the same cell in this column: takes the column out and returns the cell.
    std::optional<std::string> take_common(std::size_t column);
    /// Lines of the table, header first, without newlines. The widest columns give way until a row fits
    /// `width`.
    std::vector<std::string> lines(std::size_t width) const;

  private:
    std::vector<std::size_t> widths() const;

    std::vector<std::vector<std::string>> rows_;
};

}  // namespace gpucheck::report
