// One GPU against the others: floors are not needed to see it, and what is not alike is not compared.
#include <gtest/gtest.h>

#include "tests/burn_checks/burnt.h"

namespace gpucheck {
namespace {

using U64 = std::uint64_t;

TEST(BurnUneven, OneSlowGpuOfEight) {
    Snapshot machine = burnt_h100_x8();
    set_rate(machine.gpus[2], "memory_stream", "read", 2780);  // 6.8 % below the others
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "");
    set_rate(machine.gpus[2], "memory_stream", "read", 2700);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:39:00.0 warn");
    set_rate(machine.gpus[2], "memory_stream", "read", 2400);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:39:00.0 fail");
    EXPECT_EQ(expected_by(kBurnUnevenCheck, machine),
              "memory_read_gb_s: at least 93 % of 2973 GB/s, the median of 7 other GPUs");
    result_of(machine.gpus[2], "memory_stream", "read").quantities[0].samples = 2;
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:39:00.0 warn");
}

TEST(BurnUneven, MatrixRatesAndLinksHaveTheirOwnBars) {
    Snapshot machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "matrix", "bf16", 755);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "");
    set_rate(machine.gpus[0], "matrix", "bf16", 730);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:05:00.0 warn");
    set_rate(machine.gpus[0], "matrix", "bf16", 640);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:05:00.0 fail");
    machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "host_link", "h2d", 43);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "");
    set_rate(machine.gpus[0], "host_link", "h2d", 30);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:05:00.0 warn");
    set_rate(machine.gpus[0], "host_link", "h2d", 14);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:05:00.0 fail");
}

TEST(BurnUneven, OfTwoNobodyKnowsWhichIsSlow) {
    Snapshot machine = burnt_h100_x8();
    machine.gpus.resize(2);
    set_rate(machine.gpus[0], "memory_stream", "read", 1000);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "");
    EXPECT_EQ(run_check(kBurnUnevenCheck, machine, Profile::boot).verdict, Verdict::not_applicable);
    machine = burnt_h100_x8();
    machine.gpus.resize(3);
    set_rate(machine.gpus[0], "memory_stream", "read", 1000);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:19:00.0 fail");
}

TEST(BurnUneven, OnlyLikeIsCompared) {
    Snapshot machine = burnt_h100_x8();
    set_rate(machine.gpus[0], "matrix", "bf16", 400);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:19:00.0 fail");
    machine.gpus[0].burn_in.load.power_limit_w = fact(400.0);  // somebody wanted it so
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "");
    machine = burnt_mi300x_x8();
    set_rate(machine.gpus[0], "memory_stream", "copy", 540);
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "burn.uneven.slow 0000:05:00.0 fail");
    machine.gpus[0].burn_in.units = fact(U64{38});
    machine.gpus[0].amd.compute_partition = fact("CPX");
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "");
}

TEST(BurnUneven, ASpreadThatAllShareIsNobodysFault) {
    Snapshot machine = burnt_h100_x8();
    for (std::size_t i = 0; i < 8; ++i)
        set_rate(machine.gpus[i], "matrix", "bf16", 500 + 40 * static_cast<double>(i));
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "");
}

TEST(BurnLaunch, TwiceTheOthersWarns) {
    Snapshot machine = burnt_h100_x8();
    set_rate(machine.gpus[0], "launch", "", 13);
    EXPECT_EQ(said(kBurnLaunchCheck, machine), "");
    set_rate(machine.gpus[0], "launch", "", 40);
    EXPECT_EQ(said(kBurnLaunchCheck, machine), "burn.launch.slow 0000:19:00.0 warn");
    EXPECT_EQ(said(kBurnUnevenCheck, machine), "") << "more is slower here, and another check's";
    for (Device& gpu : machine.gpus) set_rate(gpu, "launch", "", 40);
    EXPECT_EQ(said(kBurnLaunchCheck, machine), "");
}

TEST(BurnPeer, ASlowPairAgainstTheOthers) {
    Snapshot machine = burnt_mi300x_x8();
    set_rate(machine.gpus[3], "peer", "direct", 40);
    EXPECT_EQ(said(kBurnPeerCheck, machine), "");
    set_rate(machine.gpus[3], "peer", "direct", 30);
    EXPECT_EQ(said(kBurnPeerCheck, machine), "burn.peer.slow " + machine.gpus[3].bdf.str() + " warn");
    set_rate(machine.gpus[3], "peer", "direct", 20);
    EXPECT_EQ(said(kBurnPeerCheck, machine), "burn.peer.slow " + machine.gpus[3].bdf.str() + " fail");
    EXPECT_NE(observed_by(kBurnPeerCheck, machine).find("to " + machine.gpus[4].bdf.str()),
              std::string::npos);
    result_of(machine.gpus[3], "peer", "direct").quantities[0].samples = 1;
    EXPECT_EQ(said(kBurnPeerCheck, machine), "burn.peer.slow " + machine.gpus[3].bdf.str() + " warn");
}

TEST(BurnPeer, PairsThatAreNotPossibleAreToldAndNotFailed) {
    Snapshot machine = burnt_h100_x8();
    result_of(machine.gpus[0], "peer", "direct").ran = Missing{"cuMemcpyPeer", "CUDA_ERROR_PEER_ACCESS"};
    ExperimentResult& indirect = result_of(machine.gpus[1], "peer", "direct");
    indirect.variant = "through the host";
    indirect.quantities[0].median = 20;
    EXPECT_EQ(said(kBurnPeerCheck, machine), "");
    const CheckResult result = run_check(kBurnPeerCheck, machine, Profile::boot);
    ASSERT_EQ(result.findings.size(), 8U);
    EXPECT_EQ(result.findings[0].verdict, Verdict::not_applicable);
    EXPECT_NE(result.findings[0].observed.find("not possible: CUDA_ERROR_PEER_ACCESS"), std::string::npos);
    EXPECT_EQ(result.findings[1].verdict, Verdict::not_applicable);
}

TEST(BurnPeer, PairsThatAreWiredOtherwiseAreNotCompared) {
    // Bridges join 0 with 1 and 2 with 3; the rest of the ring goes over PCIe.
    Snapshot machine = burnt_h100_x8();
    for (std::size_t i = 0; i < 8; ++i) {
        Device& gpu = machine.gpus[i];
        NvLink link;
        link.active = fact(true);
        link.remote = fact(machine.gpus[i ^ 1U].bdf.str());
        link.remote_type = fact("gpu");
        gpu.telemetry.first.nvidia.nvlinks = fact(std::vector<NvLink>{link});
        if (i % 2 == 1) set_rate(gpu, "peer", "direct", 50);
    }
    EXPECT_EQ(said(kBurnPeerCheck, machine), "");
    set_rate(machine.gpus[0], "peer", "direct", 100);
    EXPECT_EQ(said(kBurnPeerCheck, machine), "burn.peer.slow 0000:19:00.0 fail");
}

}  // namespace
}  // namespace gpucheck
