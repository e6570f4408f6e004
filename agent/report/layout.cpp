// Widths and line breaks; see layout.h.
#include "agent/report/layout.h"

#include <algorithm>
#include <numeric>

#include "agent/report/escape.h"

namespace gpucheck::report {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;

std::size_t row_width(const std::vector<std::size_t>& widths) {
    std::size_t total = 0;
    for (const std::size_t width : widths) total += width == 0 ? 0 : width + kGap;
    return total < kGap ? 0 : total - kGap;
}

}  // namespace

std::string paragraph(std::string_view first, std::string_view text, std::size_t width) {
    const std::string margin(columns(first), ' ');
    std::string out, line(first);
    bool empty = true;  // nothing but the margin on the line
    std::size_t used = columns(line);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = text.find_first_not_of(' ', at);
        if (start == std::string_view::npos) break;
        const std::size_t end = std::min(text.find(' ', start), text.size());
        const std::string_view word = text.substr(start, end - start);
        const std::size_t size = columns(word);
        if (!empty && used + 1 + size > width) {
            out += line + '\n';
            line = margin;
            used = margin.size();
            empty = true;
        }
        if (!empty) line += ' ';
        line += word;
        used += size + (empty ? 0 : 1);
        empty = false;
        at = end;
    }
    while (line.ends_with(' ')) line.pop_back();
    return out + line + '\n';
}

std::vector<std::size_t> Table::widths() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (std::size_t column = 0; column < widths.size(); ++column) {
        for (std::size_t row = 1; row < rows_.size(); ++row) {
            widths[column] = std::max(widths[column], columns(rows_[row][column]));
        }
        if (widths[column] > 0) widths[column] = std::max(widths[column], columns(rows_.front()[column]));
    }
    return widths;
}

std::size_t Table::natural_width() const {
    return row_width(widths());
}

std::optional<std::string> Table::take_common(std::size_t column) {
    if (rows_.size() < 2) return std::nullopt;
    const std::string cell = rows_[1][column];
    for (std::size_t row = 2; row < rows_.size(); ++row) {
        if (rows_[row][column] != cell) return std::nullopt;
    }
    for (std::size_t row = 1; row < rows_.size(); ++row) rows_[row][column].clear();
    return cell;
}

std::vector<std::string> Table::lines(std::size_t width) const {
    std::vector<std::size_t> widths = this->widths();
    while (row_width(widths) > width) {
        const auto widest = std::max_element(widths.begin(), widths.end());
        if (*widest <= kNarrowest) break;
        --*widest;
    }
    std::vector<std::string> lines;
    for (const std::vector<std::string>& row : rows_) {
        std::string line;
        for (std::size_t column = 0; column < widths.size(); ++column) {
            if (widths[column] == 0) continue;
            const std::string cell = cut(row[column], widths[column]);
            line += cell + std::string(widths[column] - columns(cell) + kGap, ' ');
        }
        while (line.ends_with(' ')) line.pop_back();
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace gpucheck::report
