// Draws the burn-in's progress.
#include "agent/burn_in_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gpucheck {
namespace {

void write_all(const std::string& text) {
    // A line that does not arrive is no loss.
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) < 0);
}

winsize terminal_size() {
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_row > 1;
    return known ? size : winsize{24, 80, 0, 0};
}

std::string rounded(double number) {
    char text[32];
    std::snprintf(text, sizeof text, number >= 1000 ? "%.0f" : "%.3g", number);
    return text;
}

std::string name_of(const ExperimentResult& result) {
    return result.experiment + (result.variant.empty() ? "" : " " + result.variant);
}

}  // namespace

void GpuProgress::take(const BurnInProgress& news) {
    if (!news.stage.empty()) stage = news.stage;
    if (news.load != nullptr) {
        const auto& power = news.load->power_w;
        const auto& heat = news.load->temperature_c;
        if (power.known()) watts = rounded(power->max);
        if (heat.known()) celsius = rounded(heat->max);
    }
    if (news.result == nullptr) return;
    const ExperimentResult& result = *news.result;
    stage = name_of(result);
    // What went wrong stays: a glance at the end of the run must not miss it.
    if (!result.ran.known() && trouble.empty()) trouble = name_of(result) + " not run";
    if (result.mismatches.known() && *result.mismatches > 0) trouble = name_of(result) + " WRONG";
    if (result.quantities.empty() || !result.timed.is(true)) return;
    const Quantity& quantity = result.quantities.front();
    if (quantity.unit == "TFLOP/s") tflops = rounded(quantity.median);
    if (quantity.unit == "GB/s") gb_s = rounded(quantity.median);
}

std::string GpuProgress::text() const {
    std::string text = stage;
    const auto add = [&](const std::string& number, const char* unit) {
        if (!number.empty()) text += " " + number + " " + unit;
    };
    add(tflops, "TFLOP/s");
    add(gb_s, "GB/s");
    add(watts, "W");
    add(celsius, "C");
    return trouble.empty() ? text : text + " [" + trouble + "]";
}

std::string drawn(const std::vector<std::string>& lines, std::size_t columns, std::size_t rows) {
    // The last row stays free: writing there would scroll the screen at every turn.
    const std::size_t shown = std::min(lines.size(), rows > 1 ? rows - 1 : 1);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text += "\r\x1b[K" + lines[i].substr(0, columns > 1 ? columns - 1 : 1) + "\n";
    return shown == 0 ? text : text + "\x1b[" + std::to_string(shown) + "A\r";
}

BurnInLineOnTerminal::BurnInLineOnTerminal(const Snapshot& snapshot)
    : terminal_(::isatty(STDERR_FILENO) == 1), gpus_(snapshot.gpus.size()) {
    for (const Device& gpu : snapshot.gpus) {
        const std::string address = gpu.bdf.str();
        names_.push_back(address.starts_with("0000:") ? address.substr(5) : address);
    }
}

BurnInLineOnTerminal::~BurnInLineOnTerminal() {
    // Erases from here to the end of the screen.
    if (terminal_) write_all("\r\x1b[J");
}

void BurnInLineOnTerminal::show(std::size_t gpu, const BurnInProgress& news) {
    if (!terminal_ || gpu >= gpus_.size()) return;
    gpus_[gpu].take(news);
    draw();
}

void BurnInLineOnTerminal::draw() const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < names_.size(); ++i) lines.push_back(names_[i] + " " + gpus_[i].text());
    const winsize size = terminal_size();
    write_all(drawn(lines, size.ws_col, size.ws_row));
}

}  // namespace gpucheck
