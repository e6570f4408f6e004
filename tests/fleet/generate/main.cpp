// Writes a fleet that does not exist as JSON lines, and beside it which of its nodes are bad: for tests,
// demos and measuring how fast reports are read.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fleet/generate/report_json.h"
#include "tests/fleet/generate/synthetic.h"

namespace gpucheck::fleet {
namespace {

constexpr const char* kUsage =
    "usage: generate [OPTION=VALUE]...\n"
    "  nodes=400 gpus=8 days=1 seed=1\n"
    "  boards=h100-sxm-80gb[,h200-sxm-141gb,mi300x]  nodes take turns\n"
    "  faults=slow_memory:2,slow_matrix:1,one_gpu:1,bad_rack:2,wrong_driver:1,liar:1,lemon:0  or "
    "faults=eight\n"
    "  drift=0         share of nodes whose driver is brought up to date over the days\n"
    "  memory=1.5 matrix=8 link=3 launch=11  percent that 95 of 100 healthy chips fill\n"
    "  output=-        JSON lines of docs/report.schema.json\n"
    "  labels=FILE     CSV: node,rack\n"
    "  truth=FILE      JSON lines: node, fault, gpu\n";

struct Plan {
    Recipe recipe;
    std::string output = "-", truth, labels;
};

std::optional<double> number_in(std::string_view text, double least, double most) {
    const std::string copy(text);
    char* end = nullptr;
    errno = 0;
    const double value = std::strtod(copy.c_str(), &end);
    if (copy.empty() || errno != 0 || *end != 0 || !(value >= least && value <= most)) return std::nullopt;
    return value;
}

std::vector<std::string_view> parts(std::string_view text, char by) {
    std::vector<std::string_view> all;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(by), text.size());
        all.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

bool read_faults(std::string_view text, std::vector<Fault>& faults) {
    if (text == "eight") {
        faults = usual_eight();
        return true;
    }
    for (const std::string_view part : parts(text, ',')) {
        const std::size_t colon = std::min(part.find(':'), part.size());
        const auto count = colon == part.size() ? 1.0 : number_in(part.substr(colon + 1), 0, 100'000);
        const auto fault = fault_from(part.substr(0, colon));
        if (!count || !fault) return false;
        faults.insert(faults.end(), static_cast<std::size_t>(*count), *fault);
    }
    return true;
}

bool read_boards(std::string_view text, std::vector<std::string>& boards) {
    boards.clear();
    for (const std::string_view board : parts(text, ',')) {
        if (!is_known_board(board)) return false;
        boards.emplace_back(board);
    }
    return !boards.empty();
}

bool read_option(std::string_view name, std::string_view value, Plan& plan) {
    Recipe& recipe = plan.recipe;
    const auto whole = [&](std::size_t& member, double least, double most) {
        const auto read = number_in(value, least, most);
        if (!read || *read != std::floor(*read)) return false;
        member = static_cast<std::size_t>(*read);
        return true;
    };
    const auto share = [&](double& member, double most) {
        const auto read = number_in(value, 0, most);
        if (read) member = *read;
        return read.has_value();
    };
    if (name == "nodes") return whole(recipe.nodes, 1, 1'000'000);
    if (name == "gpus") return whole(recipe.gpus, 1, 14);
    if (name == "days") return whole(recipe.days, 1, 28);
    if (name == "seed") {
        std::size_t seed = 0;
        if (!whole(seed, 0, 1e15)) return false;
        recipe.seed = seed;
        return true;
    }
    if (name == "boards") return read_boards(value, recipe.boards);
    if (name == "faults") return read_faults(value, recipe.faults);
    if (name == "drift") return share(recipe.drift, 1);
    if (name == "memory") return share(recipe.lottery.memory, 50);
    if (name == "matrix") return share(recipe.lottery.matrix, 50);
    if (name == "link") return share(recipe.lottery.link, 50);
    if (name == "launch") return share(recipe.lottery.launch, 50);
    for (const auto& [known, member] : {std::pair("output", &plan.output), std::pair("truth", &plan.truth),
                                        std::pair("labels", &plan.labels)}) {
        if (name == known) return *member = value, !value.empty();
    }
    return false;
}

/// A file that is whole, or an error that names it.
class Output {
  public:
    explicit Output(std::string path)
        : path_(std::move(path)), file_(path_ == "-" ? stdout : std::fopen(path_.c_str(), "wb")) {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() { close(); }

    void write(std::string_view text) {
        good_ = good_ && file_ != nullptr && std::fwrite(text.data(), 1, text.size(), file_) == text.size();
    }
    bool close() {
        if (file_ == nullptr) return complain();
        good_ = good_ && std::fflush(file_) == 0;
        if (file_ != stdout) good_ = std::fclose(file_) == 0 && good_;
        file_ = nullptr;
        return good_ || complain();
    }

  private:
    bool complain() {
        if (!told_ && !good_) std::fprintf(stderr, "generate: cannot write %s\n", path_.c_str());
        told_ = true;
        return false;
    }
    std::string path_;
    std::FILE* file_;
    bool good_ = file_ != nullptr, told_ = false;
};

bool write_reports(const Plan& plan, const Generator& generator) {
    Output output(plan.output);
    Vocabulary names;
    std::string lines;
    for (std::size_t day = 0; day < plan.recipe.days; ++day) {
        for (std::size_t node = 0; node < plan.recipe.nodes; ++node) {
            append_report(lines, generator.report(node, day, names), names);
            if (lines.size() < (std::size_t{1} << 20)) continue;
            output.write(lines);
            lines.clear();
        }
    }
    output.write(lines);
    return output.close();
}

bool write_truth(const Plan& plan, const Generator& generator) {
    if (plan.truth.empty()) return true;
    Output output(plan.truth);
    for (const Planted& planted : generator.truth()) {
        output.write("{\"node\":\"" + planted.node + "\",\"fault\":\"" + name_of(planted.fault) +
                     "\",\"gpu\":" + (planted.gpu < 0 ? "null" : std::to_string(planted.gpu)) + "}\n");
    }
    return output.close();
}

bool write_labels(const Plan& plan, const Generator& generator) {
    if (plan.labels.empty()) return true;
    Output output(plan.labels);
    Vocabulary names;
    output.write("node,rack\n");
    for (std::size_t node = 0; node < plan.recipe.nodes; ++node) {
        const NodeReport report = generator.report(node, 0, names);
        output.write(report.node + "," + names.text(report.labels.front().second) + "\n");
    }
    return output.close();
}

int run(int count, char** arguments) {
    Plan plan;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        const std::size_t equals = argument.find('=');
        if (equals == std::string_view::npos ||
            !read_option(argument.substr(0, equals), argument.substr(equals + 1), plan)) {
            std::fprintf(stderr, "generate: cannot use '%s'\n%s", arguments[i], kUsage);
            return 64;
        }
    }
    const Generator generator(plan.recipe);
    const bool written =
        write_reports(plan, generator) && write_truth(plan, generator) && write_labels(plan, generator);
    return written ? 0 : 1;
}

}  // namespace
}  // namespace gpucheck::fleet

int main(int count, char** arguments) {
    return gpucheck::fleet::run(count, arguments);
}
