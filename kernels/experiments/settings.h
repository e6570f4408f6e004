// What is run, how large and how often: everything is settable down to a megabyte and two compute units, so
// that slow simulators and a debugger can run each experiment, and everything is told in the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/model/verdict.h"

namespace gpucheck::experiments {

enum class Kind : std::uint8_t {
    launch,
    matrix,
    memory_pattern,
    memory_stream,
    host_link,
    peer,
    gemm,
    matrix_native,  ///< matrix by what only one architecture has (wgmma); chosen together with matrix
};
inline constexpr std::size_t kKinds = 8;
std::string_view name_of(Kind kind);

/// A fault that we put into the data on the device, to prove that it would be found.
struct Injection {
    enum class Kind : std::uint8_t {
        none,
        bit,      ///< flips one bit of device memory between writing and checking
        operand,  ///< flips bits of one operand register of one lane before the matrix instructions
        lane,     ///< flips bits of one accumulator register of one lane
        skip,     ///< leaves one launch out
    } kind = Kind::none;
    std::optional<std::uint64_t> place;  ///< bit: byte offset; lane, operand: lane; nullopt: by the seed
    bool operator==(const Injection&) const = default;
};
std::string text_of(const Injection& injection);

struct Settings {
    std::uint64_t seed = 1;
    bool run[kKinds] = {true, true, true, true, true, true, false, true};
    unsigned units = 0;  ///< how many SMs or compute units to fill; 0: all
    unsigned blocks_per_unit = 4;
    unsigned threads = 512;  ///< of one block of the memory kernels

    std::uint64_t stream_bytes = std::uint64_t{1} << 30;  ///< of one array
    unsigned stream_reps = 10;
    std::uint64_t pattern_bytes = 0;  ///< 0: `pattern_share` of what is free
    unsigned pattern_percent = 90;
    unsigned pattern_passes = 1;            ///< each writes and checks every pattern
    unsigned matrix_rounds = 2;             ///< new operands in each
    unsigned matrix_iterations = 0;         ///< 0: so many as fill `matrix_ms`
    unsigned matrix_ms = 60;                ///< of one launch
    unsigned matrix_reps = 3;               ///< after the first one, which is not timed
    std::vector<std::string> matrix_types;  ///< empty: all that the architecture has
    std::string matrix_path;                ///< "mma", "wgmma" or "f8f6f4" alone; empty: all there are
    unsigned gemm_size = 8192;              ///< of C; of k too, unless gemm_depth says otherwise
    unsigned gemm_depth = 0;
    unsigned gemm_reps = 5;               ///< after the first one, which is not timed
    std::vector<std::string> gemm_types;  ///< empty: all of bf16, f16 and e4m3 that the architecture has
    std::uint64_t link_bytes = std::uint64_t{256} << 20;
    unsigned link_reps = 8;
    unsigned launch_reps = 200;
    std::uint64_t peer_bytes = std::uint64_t{256} << 20;
    unsigned peer_reps = 4;

    Injection inject;
    /// Sizes were made small by hand: nothing is judged by time then.
    bool sized_by_hand = false;
    /// The libraries are not the machine's own (`--driver-dir`): no time means anything.
    bool simulated = false;
    unsigned timed = 0;  ///< 1: times count all the same; who says so knows why

    bool runs(Kind kind) const { return run[static_cast<std::size_t>(kind)]; }
};

/// What a profile runs when nobody says otherwise.
Settings settings_for(Profile profile);
/// Sizes with which a simulated device ends in seconds; the same keys that apply() takes.
inline constexpr std::string_view kSimulationSizes =
    "blocks=1,threads=64,stream.bytes=1MiB,stream.reps=2,pattern.bytes=16MiB,pattern.passes=1,matrix.rounds="
    "1,"
    "matrix.iterations=1,matrix.reps=1,link.bytes=1MiB,link.reps=2,launch.reps=20,peer.bytes=1MiB,peer.reps="
    "2,gemm.size=256,gemm.depth=64,gemm.reps=1";

/// Whether this way of multiplying is wanted: "mma" stands for mma.sync and AMD's v_mfma.
bool wants_path(const Settings& settings, std::string_view path);

/// "matrix" (only this one, or these), "matrix.reps=4", "stream.bytes=1MiB", "units=2", separated by commas.
/// The error, or empty.
std::string apply(std::string_view text, Settings& settings);
/// "bit", "bit:4096", "lane", "lane:7", "operand", "skip". The error, or empty.
std::string parse_injection(std::string_view text, Injection& injection);

}  // namespace gpucheck::experiments
