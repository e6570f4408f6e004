// Sets a GPU up for experiments and turns what its kernels wrote into results.
#include "kernels/experiments/bench.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <utility>

#include "kernels/hash.h"

namespace gpucheck::experiments {
namespace {

using gpu::Done;
using kernels::CheckResult;

const std::string kCounted = "counted on the device";
constexpr std::size_t kRecordsKept = 16;  // of each result; the counts tell the rest

void add(Fact<std::uint64_t>& fact, std::uint64_t value) {
    fact = Fact<std::uint64_t>((fact.known() ? *fact : 0) + value, kCounted);
}

void add_places(const std::map<std::uint64_t, std::uint64_t>& counts, std::vector<PlaceCount>& places) {
    std::map<std::uint64_t, std::uint64_t> all = counts;
    for (const PlaceCount& each : places) all[each.place] += each.mismatches;
    places.clear();
    for (const auto& [place, mismatches] : all) places.push_back({place, mismatches});
}

MismatchRecord record_of(const kernels::Mismatch& found) {
    const auto fact = [](std::uint64_t value) { return Fact<std::uint64_t>(value, kCounted); };
    MismatchRecord record;
    record.expected = found.expected;
    record.got = found.got;
    record.difference = found.difference;
    record.block = fact(found.block);
    record.unit = fact(found.unit);
    if (found.experiment == static_cast<kernels::u32>(kernels::Experiment::gemm)) {
        record.row = fact(found.index >> 32);
        record.column = fact(found.index & 0xFFFFFFFF);
        if (found.unit >= kernels::kUnits)
            record.unit = Missing{kCounted, "the unit of this tile is not known"};
        return record;
    }
    record.wave = fact(found.wave);
    record.lane = fact(found.lane);
    record.round = fact(found.round);
    if (found.experiment == static_cast<kernels::u32>(kernels::Experiment::matrix)) {
        record.element = fact(found.element);
        record.chain = fact(found.chain);
    } else {
        record.offset = fact(found.index);
    }
    return record;
}

}  // namespace

Done DeviceMemory::allocate(std::uint64_t bytes) {
    release();
    return gpu_.allocate(bytes, pointer_);
}

void DeviceMemory::release() {
    // A GPU that cannot give memory back says so at the next call that matters.
    if (pointer_ != 0) static_cast<void>(gpu_.release(pointer_));
    pointer_ = 0;
}

Done PinnedMemory::allocate(std::uint64_t bytes) {
    return gpu_.allocate_pinned(bytes, pointer_);
}

PinnedMemory::~PinnedMemory() {
    if (pointer_ != nullptr) static_cast<void>(gpu_.release_pinned(pointer_));
}

Done Bench::find(const std::string& source, const std::string& name, gpu::Kernel& kernel) {
    auto loaded = loaded_.find(source);
    if (loaded == loaded_.end()) {
        const Fact<kernels::Image> found = look_for(source);
        if (!found.known()) return gpu::Failure{"image", "image absent: " + found.why()};
        Loaded fresh{*found, {}};
        if (Done failed = gpu_.load(fresh.image.bytes.data(), fresh.module)) return failed;
        loaded = loaded_.emplace(source, std::move(fresh)).first;
    }
    return gpu_.find(loaded->second.module, name.c_str(), kernel);
}

std::string Bench::images() const {
    std::string text;
    for (const auto& [source, loaded] : loaded_) {
        if (!text.empty()) text += ", ";
        text += source + ": " + loaded.image.architecture;
        if (loaded.image.compiled_on_arrival) text += " (compiled by the driver)";
    }
    return text;
}

Done Bench::open() {
    if (Done failed = gpu_.create(stream_)) return failed;
    if (Done failed = gpu_.create(start_)) return failed;
    if (Done failed = gpu_.create(stop_)) return failed;
    if (Done failed = result_.allocate(sizeof(CheckResult))) return failed;
    if (Done failed = parameters_.allocate(kParameterBytes)) return failed;
    if (Done failed = result_host_.allocate(sizeof(CheckResult))) return failed;
    return parameters_host_.allocate(kParameterBytes);
}

unsigned Bench::units() const {
    const unsigned all = gpu_.properties().units;
    return settings_.units == 0 ? all : std::min(all, settings_.units);
}

Done Bench::timed(const std::function<Done()>& work, double& ms) {
    if (Done failed = gpu_.record(start_, stream_)) return failed;
    if (Done failed = work()) return failed;
    if (Done failed = gpu_.record(stop_, stream_)) return failed;
    if (Done failed = wait()) return failed;
    return gpu_.elapsed(start_, stop_, ms);
}

Done Bench::clear_result() {
    static_assert(sizeof(CheckResult) % 4 == 0 && sizeof(kernels::u64) == 8);
    if (Done failed = gpu_.fill_words(result(), 0, sizeof(CheckResult) / 4, stream_)) return failed;
    return gpu_.fill_words(result() + offsetof(CheckResult, first_index), 0xFFFFFFFFU, 2, stream_);
}

Done Bench::read_result(const CheckResult*& result) {
    result = result_host_.as<CheckResult>();
    // What an incomplete copy leaves must not look like a clean result.
    std::fill_n(result_host_.as<unsigned char>(), sizeof(CheckResult), static_cast<unsigned char>(0xA5));
    if (Done failed =
            gpu_.copy(gpu::Direction::to_host, result_host_.at(), result_.at(), sizeof(CheckResult), stream_))
        return failed;
    return wait();
}

Done Bench::check(const std::function<Done()>& work, ExperimentResult& into, std::uint64_t& wrong,
                  UnitCoverage& units) {
    if (Done failed = clear_result()) return failed;
    if (Done failed = work()) return failed;
    const CheckResult* found = nullptr;
    if (Done failed = read_result(found)) return failed;
    wrong = found->wrong;
    units.add(*found);
    add_findings(*found, into);
    return std::nullopt;
}

Quantity quantity(std::string name, std::string unit, std::vector<double> samples) {
    Quantity result;
    result.name = std::move(name);
    result.unit = std::move(unit);
    result.samples = samples.size();
    if (samples.empty()) return result;
    std::sort(samples.begin(), samples.end());
    const std::size_t middle = samples.size() / 2;
    result.median = samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
    result.min = samples.front();
    result.max = samples.back();
    return result;
}

ExperimentResult begin_result(const Bench& bench, Kind kind, std::string variant, std::string parameters) {
    const Settings& settings = bench.settings();
    ExperimentResult result;
    result.experiment = name_of(kind);
    result.variant = std::move(variant);
    result.seed = Fact<std::uint64_t>(settings.seed, "--seed");
    result.parameters = Fact<std::string>(std::move(parameters), "settings");
    const bool usual = !settings.sized_by_hand && !settings.simulated;
    result.timed = Fact<bool>(usual || settings.timed != 0, "settings");
    result.injected = settings.inject.kind == Injection::Kind::none
                          ? Fact<std::string>(Missing{"--inject", "none"})
                          : Fact<std::string>(text_of(settings.inject), "--inject");
    result.ran = Missing{std::string(name_of(kind)), "not reached"};
    result.repeat = Missing{std::string(name_of(kind)), "not repeated: no mismatch"};
    return result;
}

void add_findings(const CheckResult& found, ExperimentResult& result) {
    add(result.values_checked, found.checked);
    add(result.mismatches, found.wrong);
    const std::uint64_t mask = result.difference_mask.known() ? *result.difference_mask : 0;
    result.difference_mask = Fact<std::uint64_t>(mask | found.any_difference, kCounted);
    const std::size_t told = std::min<std::size_t>(found.records_wanted, kernels::kRecords);
    for (std::size_t i = 0; i < told && result.records.size() < kRecordsKept; ++i)
        result.records.push_back(record_of(found.records[i]));
    std::map<std::uint64_t, std::uint64_t> units, bits;
    for (std::size_t i = 0; i < kernels::kUnits; ++i) {
        if (found.units[i].wrong != 0) units[i] = found.units[i].wrong;
    }
    for (std::size_t i = 0; i < kernels::kAddressBits; ++i) {
        if (found.wrong_by_address_bit[i] != 0) bits[i] = found.wrong_by_address_bit[i];
    }
    add_places(units, result.by_unit);
    add_places(bits, result.by_address_bit);
}

void add_received(const std::uint64_t* got, std::uint64_t words, std::uint64_t base, std::uint64_t step,
                  ExperimentResult& result) {
    const std::string source = "compared on the host";
    std::uint64_t wrong = 0, mask = 0;
    std::map<std::uint64_t, std::uint64_t> bits;
    for (std::uint64_t i = 0; i < words; ++i) {
        const std::uint64_t expected = kernels::linear_word(base, step, i);
        if (got[i] == expected) continue;
        ++wrong;
        mask |= got[i] ^ expected;
        for (unsigned bit = 3; bit < kernels::kAddressBits; ++bit) {
            if ((i * 8 >> bit & 1) != 0) ++bits[bit];
        }
        if (result.records.size() >= kRecordsKept) continue;
        MismatchRecord& record = result.records.emplace_back();
        record.offset = Fact<std::uint64_t>(i * 8, source);
        record.unit = Missing{source, "no unit read it"};
        record.expected = expected;
        record.got = got[i];
        record.difference = expected ^ got[i];
    }
    add(result.values_checked, words);
    add(result.mismatches, wrong);
    result.difference_mask =
        Fact<std::uint64_t>((result.difference_mask.known() ? *result.difference_mask : 0) | mask, source);
    add_places(bits, result.by_address_bit);
}

void UnitCoverage::add(const CheckResult& found) {
    for (std::size_t i = 0; i < kernels::kUnits; ++i) {
        if (found.units[i].done != 0) worked_[i] = true;
    }
}

void UnitCoverage::state(const Bench& bench, ExperimentResult& result) const {
    const auto working = std::count(worked_.begin(), worked_.end(), true);
    result.units_tested = Fact<std::uint64_t>(static_cast<std::uint64_t>(working), kCounted);
    const unsigned total = bench.properties().units;
    const std::string library = "the driver's library";
    result.units_total = total != 0 ? Fact<std::uint64_t>(total, library)
                                    : Fact<std::uint64_t>(Missing{library, "no number of units"});
}

void state_repeat(bool wrong_again, ExperimentResult& result) {
    result.repeat = Fact<std::string>(wrong_again ? "sticky" : "transient", "the same seed once more");
}

ExperimentResult& failed(ExperimentResult& result, const gpu::Failure& failure) {
    result.ran = Missing{failure.call, failure.error};
    return result;
}

ExperimentResult& out_of_time(ExperimentResult& result) {
    result.ran = Missing{result.experiment, "out of time"};
    return result;
}

std::uint64_t odd_step(std::uint64_t seed) {
    return kernels::mix64(seed ^ kernels::kGolden) | 1;
}

}  // namespace gpucheck::experiments
