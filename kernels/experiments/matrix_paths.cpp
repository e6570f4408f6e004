// Which instructions test a GPU's matrix units, and what a mismatch of each is worth: a kernel that was never
// seen right on hardware must not condemn a healthy GPU.
#include "kernels/experiments/matrix_paths.h"

#include <algorithm>

namespace gpucheck::experiments {
namespace {

using kernels::MatrixType;

bool wanted(const Settings& settings, MatrixType type) {
    const auto& types = settings.matrix_types;
    return types.empty() || std::find(types.begin(), types.end(), name_of_type(type)) != types.end();
}

/// "sm_90" -> 90; 0 for AMD's.
unsigned capability_of(const std::string& architecture) {
    if (!architecture.starts_with("sm_")) return 0;
    unsigned number = 0;
    for (const char digit : architecture.substr(3)) {
        if (digit < '0' || digit > '9' || number > 999) break;
        number = number * 10 + static_cast<unsigned>(digit - '0');
    }
    return number;
}

/// What the architecture has beside mma.sync, if that is wanted.
MatrixPath native_path(const Bench& bench) {
    const kernels::Target target = kernels::native_target(bench.properties().architecture);
    MatrixPath path{target == kernels::Target::sm90 ? "wgmma" : "f8f6f4", "matrix_native", "", target};
    path.prefix = path.name + "_";
    if (!wants_path(bench.settings(), path.name)) path.target = kernels::Target::none;
    return path;
}

bool has(const MatrixPath& path, MatrixType type) {
    return matrix_shape(path.target, type).wave != 0;
}

std::string why_lacking(const std::string& architecture, MatrixType type) {
    const unsigned capability = capability_of(architecture);
    const bool small = type == MatrixType::e2m3 || type == MatrixType::e3m2 || type == MatrixType::e2m1;
    if (small && capability >= 100 && capability < 120)
        return "not offered by the legacy path: needs tcgen05";
    if (small && capability / 10 == 12) return "needs mma.sync kind::f8f6f4, which this path does not have";
    return "this architecture does not have the type";
}

template <class Each>
void for_wanted_types(const Settings& settings, Each&& each) {
    for (kernels::u32 i = 0; i < kernels::kMatrixTypes; ++i) {
        if (wanted(settings, static_cast<MatrixType>(i))) each(static_cast<MatrixType>(i));
    }
}

/// One result that says why there are no others.
void tell_none(const Bench& bench, Missing why, const Sink& sink) {
    ExperimentResult none = begin_result(bench, Kind::matrix, "", "");
    none.ran = std::move(why);
    sink(none);
}

}  // namespace

std::string variant_of(const MatrixPath& path, MatrixType type) {
    const std::string name = name_of_type(type);
    return path.name == "wgmma" ? name + " wgmma" : name;
}

std::string instructions_of(const MatrixPath& path, const std::string& architecture, MatrixType type) {
    if (architecture.starts_with("gfx")) return "v_mfma";
    if (path.name == "wgmma") return "wgmma.mma_async";
    if (path.name == "f8f6f4") return "mma.sync kind::f8f6f4";
    const unsigned capability = capability_of(architecture);
    if (capability < 90 || capability / 10 == 12) return "mma.sync";
    std::string text = "mma.sync (legacy path: not ";
    text += capability < 100 ? "wgmma" : "tcgen05";
    if (is_done_by_fp16(path, architecture, type)) text += "; done by the FP16 units";
    return text + ")";
}

bool is_done_by_fp16(const MatrixPath& path, const std::string& architecture, MatrixType type) {
    // ptxas 13.0 has no FP8 instruction for mma.sync on sm_90 and sm_100 (tests/isa looks into the images).
    const unsigned capability = capability_of(architecture);
    const bool fp8 = type == MatrixType::e4m3 || type == MatrixType::e5m2;
    return path.name == "mma" && fp8 && capability >= 90 && capability < 120;
}

void disown(const MatrixPath& path, ExperimentResult& result) {
    if (!result.mismatches.known() || *result.mismatches == 0) return;
    const std::size_t units = result.by_unit.size();
    const std::uint64_t tested = result.units_tested.known() ? *result.units_tested : 0;
    std::string text = path.name + " is not proven on hardware yet: " + std::to_string(*result.mismatches);
    if (result.values_checked.known()) text += " of " + std::to_string(*result.values_checked);
    text += " values wrong on " + std::to_string(units);
    if (tested != 0) text += " of " + std::to_string(tested);
    text += tested != 0 && units * 2 < tested ? " units: these units, or our kernel"
                                              : " units: our kernel, or the GPU";
    text += "; please send this report in (docs/experiments.md, Paths)";
    result.ran = Missing{path.name, text};
    result.mismatches = Missing{path.name, "not counted: " + text};
    result.quantities.clear();
}

void run_matrix(Bench& bench, const Sink& sink) {
    if (!wants_path(bench.settings(), "mma")) return;  // run_matrix_native says what there is instead
    const std::string& architecture = bench.properties().architecture;
    const Fact<kernels::Image> image = bench.look_for("matrix");
    if (!image.known()) return tell_none(bench, {image.source(), "image absent: " + image.why()}, sink);
    const MatrixPath path{"mma", "matrix", "matrix_", image->target}, native = native_path(bench);
    unsigned types = 0;
    for_wanted_types(bench.settings(), [&](MatrixType type) {
        if (has(path, type)) {
            sink(run_matrix_type(bench, type, path));
        } else if (bench.settings().matrix_types.empty()) {
            return;  // nobody asked for this one
        } else if (!has(native, type)) {
            ExperimentResult lacking = begin_result(bench, Kind::matrix, name_of_type(type), "");
            lacking.ran = Missing{architecture, why_lacking(architecture, type)};
            sink(lacking);
        }
        ++types;
    });
    if (types == 0) tell_none(bench, {architecture, "no matrix unit known for this architecture"}, sink);
}

void run_matrix_native(Bench& bench, const Sink& sink) {
    const std::string& asked = bench.settings().matrix_path;
    if (asked == "mma") return;
    const MatrixPath path = native_path(bench);
    unsigned types = 0;
    for_wanted_types(bench.settings(), [&](MatrixType type) { types += has(path, type) ? 1 : 0; });
    if (types == 0) {
        // Silence where nobody asked for it by name: most architectures have no second path.
        if (!asked.empty())
            tell_none(bench, {bench.properties().architecture, asked + " is not there for these types"},
                      sink);
        return;
    }
    const Fact<kernels::Image> image = bench.look_for(path.image);
    if (!image.known()) return tell_none(bench, {image.source(), "image absent: " + image.why()}, sink);
    for_wanted_types(bench.settings(), [&](MatrixType type) {
        if (has(path, type)) sink(run_matrix_type(bench, type, path));
    });
}

}  // namespace gpucheck::experiments
