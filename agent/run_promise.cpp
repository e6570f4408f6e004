// See run_promise.h.
#include "agent/run_promise.h"

#include "agent/hourly_price.h"
#include "agent/identify.h"
#include "checks/gpus.h"

namespace gpucheck {

using std::chrono::milliseconds;

std::variant<std::vector<std::string>, std::string> find_out_who(const cli::RunOptions& options,
                                                                 Target& target, milliseconds budget,
                                                                 const std::vector<std::string>& refused,
                                                                 Progress& progress) {
    constexpr milliseconds kQuick{600}, kLong{3000}, kLongest{10'000};
    IdentifyPlan plan;
    plan.price_from_api = options.price == "api";
    plan.deadline = std::min(options.profile == Profile::quick ? kQuick : kLong, budget / 3);
    // Public lists of prices are megabytes, and who asks for them has the time.
    if (plan.price_from_api) plan.deadline = std::min(kLongest, budget / 2);
    plan.given_up = was_given_up(refused, kMetadataService);
    plan.waiting = [&](std::string_view what, milliseconds at_most) { progress.wait(what, at_most); };
    auto who = identify(target.root, options.machine, plan);
    if (auto* error = std::get_if<std::string>(&who)) return std::move(*error);
    auto promise = promised(options.machine, target.boards, &std::get<Identified>(who));
    if (auto* error = std::get_if<std::string>(&promise)) return std::move(*error);
    target.promise = std::move(std::get<Promised>(promise));
    return std::move(std::get<Identified>(who).conflicts);
}

Fact<HourlyPrice> price_now(const cli::RunOptions& options, const host::Sysroot& root,
                            const Snapshot& snapshot) {
    if (!snapshot.host.pci_functions.known())
        return Missing{snapshot.host.pci_functions.source(), "refused: the GPUs could not be counted"};
    const Fact<std::string>& now = root.process().now;
    const PriceWish wish{options.price, options.price_source.empty() ? "--price" : options.price_source,
                         now.known() ? now->substr(0, 10) : std::string(), options.machine.specs_folder};
    const Fact<unsigned>& promised = snapshot.expected.gpu_count;
    std::size_t here = own_gpus(snapshot).size();
    // A container sees all GPUs of its host in /sys, whatever it was given.
    if (snapshot.host.in_container() && promised.known()) here = std::min<std::size_t>(here, *promised);
    return hourly_price(wish, snapshot.instance, promised, here);
}

}  // namespace gpucheck
