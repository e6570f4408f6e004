// What the estimator must know of the GPUs that serve a model. A rate that nobody measured is absent, never a
// datasheet's figure in disguise: a sick GPU would get a healthy one's price.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpucheck::cost {

/// How the GPUs of one group reach each other; decides what an all-reduce costs.
enum class Fabric : std::uint8_t { unknown, nvlink3, nvlink4, nvlink5, pcie4, xgmi };
std::string_view name_of(Fabric fabric);
std::optional<Fabric> fabric_from(std::string_view name);

/// Formats of weights and of the KV cache. fp4 is NVFP4 (one fp8 scale for 16 values), mxfp4 the OCP format
/// (one for 32). A KV cache is fp16 or fp8.
enum class Precision : std::uint8_t { fp16, fp8, fp4, mxfp4 };
std::string_view name_of(Precision precision);
std::optional<Precision> precision_from(std::string_view name);
/// The same, or both of the four-bit family, whose published results name either.
bool same_format(Precision a, Precision b);
/// Bytes of one weight, scales included: 2, 1, 0.5625, 0.53125.
double bytes_of(Precision precision);

/// Where the rates come from. The band of the estimate depends on it.
enum class Basis : std::uint8_t {
    measured,   ///< on this machine, by gpucheck, from a report
    given,      ///< measured by somebody else, on the command line
    published,  ///< of other people's healthy boards of the same kind
    datasheet,  ///< what the maker prints, times what boards usually reach of it
};
std::string_view name_of(Basis basis);

/// One kind of GPU as measured, and how many of them the instance has. Rates are of one GPU, sustained.
struct MeasuredMachine {
    std::string board;                        ///< key of the board table; empty: unknown
    std::string board_name;                   ///< for people
    unsigned gpus = 0;                        ///< of the whole instance
    std::optional<double> bandwidth_bytes_s;  ///< HBM, arrays >= 1 GiB
    /// Dense GEMM, median of large shapes, by the width of its inputs.
    std::optional<double> fp16_flop_s, fp8_flop_s, fp4_flop_s;
    std::optional<bool> has_fp8, has_fp4;  ///< the matrix units know the format; nullopt: nobody knows
    std::optional<double> capacity_bytes;  ///< what the runtime can use of one GPU's memory
    std::optional<double> power_w;         ///< board power in a bandwidth-bound phase
    Fabric fabric = Fabric::unknown;
    Basis basis = Basis::measured;
    std::string source;  ///< one line for the report: what was run, where, when
};

/// Seconds that one all-reduce of `bytes` takes among `n` GPUs; nullopt where it was never tabled (n other
/// than 2, 4, 8; unknown fabric). Fitted to measured tables for NVLink and PCIe, assumed for xGMI.
std::optional<double> all_reduce_s(Fabric fabric, unsigned n, double bytes);
/// The latency part alone: what an empty message takes.
std::optional<double> all_reduce_latency_s(Fabric fabric, unsigned n);

}  // namespace gpucheck::cost
