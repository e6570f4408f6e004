// Fleets that do not exist: healthy chips with their lottery and noise, and faults planted among them, so
// that a decision can be held against the truth.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/fleet.h"

namespace gpucheck::fleet {

/// Numbers alike on every machine and library: std's distributions are not.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    double uniform();                      ///< 0 to below 1
    double normal();                       ///< Box and Muller, cut at six standard deviations
    std::size_t below(std::size_t count);  ///< 0 to count - 1

  private:
    std::uint64_t state_;
};

enum class Fault {
    slow_memory,   ///< all GPUs of a node: memory at 94 %
    slow_matrix,   ///< all GPUs of a node: matrix rates at 92 %
    one_gpu,       ///< one GPU of a node: memory at 94 % or matrix rates at 86 %
    bad_rack,      ///< several nodes of one rack: matrix rates at 93 %
    wrong_driver,  ///< a node with another driver
    liar,          ///< a node with perfect numbers
    lemon,         ///< a GPU that fails in two of its node's earlier boots and passes now
};
const char* name_of(Fault fault);
std::optional<Fault> fault_from(std::string_view name);
bool is_known_board(std::string_view key);

/// How healthy chips differ. Each width holds 95 % of them (two standard deviations to either side), in
/// percent of the median; a chip's place in it is the same for all measurements of a kind.
struct Lottery {
    double memory = 1.5, matrix = 8, link = 3, launch = 11;
    double node_share = 0.35;  ///< of a chip's standard deviation: what its node adds (cooling, power)
    double run_noise = 0.25;   ///< percent, one standard deviation from run to run
    enum class Shape { normal, flat, lower_tail, heavy_tails } shape = Shape::normal;
};

struct Recipe {
    std::uint64_t seed = 1;
    std::size_t nodes = 400, gpus = 8;
    std::vector<std::string> boards{"h100-sxm-80gb"};  ///< nodes take turns
    std::vector<Fault> faults;                         ///< bad_rack: each further one is in the same rack
    Lottery lottery;
    std::size_t days = 1;     ///< reports of each node, one a day and boot
    double drift = 0;         ///< share of nodes whose driver was brought up to date meanwhile
    std::size_t in_rack = 8;  ///< nodes
};

struct Planted {
    std::string node;
    Fault fault;
    int gpu = -1;
};

struct Synthetic {
    Fleet fleet;
    std::vector<Planted> truth;
};

/// The eight of four hundred: two with slow memory, one with slow matrix cores, one bad GPU, two of a rack, a
/// wrong driver, a liar.
std::vector<Fault> usual_eight();

/// One node's reports at a time, so that a hundred thousand need no memory.
class Generator {
  public:
    explicit Generator(const Recipe& recipe);
    const std::vector<Planted>& truth() const { return truth_; }
    /// Of node `index` on `day`; names go into `names`.
    NodeReport report(std::size_t index, std::size_t day, Vocabulary& names) const;

  private:
    void plant();
    const Recipe recipe_;
    std::vector<Planted> truth_;
    std::vector<int> fault_of_;  ///< of each node: an index into truth_, or -1
};

Synthetic synthetic(const Recipe& recipe);

}  // namespace gpucheck::fleet
