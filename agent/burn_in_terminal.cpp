// Draws the burn-in's progress line.
#include "agent/burn_in_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace gpucheck {
namespace {

void write_all(const std::string& text) {
    // A line that does not arrive is no loss.
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) < 0);
}

std::size_t columns() {
    winsize size{};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1U : 79U;
}

std::string rounded(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", number);
    return text;
}

}  // namespace

std::string progress_words(const std::string& before, const BurnInProgress& news) {
    if (!news.stage.empty()) return std::string(news.stage);
    if (news.load != nullptr) {
        const std::string stage = before.substr(0, before.find(' '));
        std::string text = stage;
        if (news.load->power_w.known()) text += " " + rounded(news.load->power_w->max) + " W";
        if (news.load->temperature_c.known()) text += " " + rounded(news.load->temperature_c->max) + " C";
        return text;
    }
    if (news.result == nullptr) return before;
    std::string text =
        news.result->experiment + (news.result->variant.empty() ? "" : " " + news.result->variant);
    if (!news.result->ran.known()) return text + " not run";
    if (news.result->mismatches.known() && *news.result->mismatches > 0) return text + " WRONG";
    if (!news.result->quantities.empty() && news.result->timed.is(true)) {
        const Quantity& quantity = news.result->quantities.front();
        text += " " + rounded(quantity.median) + " " + quantity.unit;
    }
    return text;
}

BurnInLineOnTerminal::BurnInLineOnTerminal(const Snapshot& snapshot)
    : terminal_(::isatty(STDERR_FILENO) == 1) {
    for (const Device& gpu : snapshot.gpus) {
        const std::string address = gpu.bdf.str();
        names_.push_back(address.starts_with("0000:") ? address.substr(5) : address);
        words_.emplace_back("starting");
    }
}

BurnInLineOnTerminal::~BurnInLineOnTerminal() {
    if (terminal_) write_all("\r\x1b[K");
}

void BurnInLineOnTerminal::show(std::size_t gpu, const BurnInProgress& news) {
    if (!terminal_ || gpu >= words_.size()) return;
    words_[gpu] = progress_words(words_[gpu], news);
    draw();
}

void BurnInLineOnTerminal::draw() const {
    std::string line;
    for (std::size_t i = 0; i < names_.size(); ++i)
        line += (i == 0 ? "" : " | ") + names_[i] + " " + words_[i];
    if (line.size() > columns()) line.resize(columns());
    write_all("\r\x1b[K" + line);
}

}  // namespace gpucheck
