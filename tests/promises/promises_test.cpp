// Links, network functions, drives and prices against what was sold: the near-misses are other people's
// healthy machines.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

Fact<unsigned> sold(unsigned count) {
    return Fact<unsigned>(count, "instances.json: aws x (as of 2026-11-30)");
}
Fact<unsigned> hearsay(unsigned count) {
    return Fact<unsigned>(count, "instances.json: aws x (as of 2026-11-30, unverified)");
}

std::vector<NvmeDrive> drives(unsigned count, const char* model = "Amazon EC2 NVMe Instance Storage") {
    std::vector<NvmeDrive> result;
    for (unsigned i = 0; i < count; ++i)
        result.push_back({Bdf{0, static_cast<std::uint8_t>(0x40 + i), 0, 0}, fact("nvme" + std::to_string(i)),
                          fact(model)});
    return result;
}

std::vector<RdmaNic> nics(unsigned count, bool infiniband = true) {
    std::vector<RdmaNic> result;
    for (unsigned i = 0; i < count; ++i)
        result.push_back({Bdf{0, static_cast<std::uint8_t>(0x60 + i), 0, 0}, infiniband,
                          fact("mlx5_ib" + std::to_string(i))});
    return result;
}

Snapshot with_drives(std::vector<NvmeDrive> list, Fact<unsigned> promise) {
    Snapshot machine;
    machine.host.nvme_drives = fact(std::move(list));
    machine.expected.local_nvme = std::move(promise);
    return machine;
}

Snapshot with_nics(std::vector<RdmaNic> list, Fact<unsigned> promise) {
    Snapshot machine;
    machine.host.rdma_nics = fact(std::move(list));
    machine.expected.rdma_nics = std::move(promise);
    return machine;
}

TEST(LocalNvme, NetworkDisksDoNotFillAGap) {
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(drives(8), sold(8))), "");
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(drives(9), sold(8))), "");
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(drives(7), sold(8))), "nvme.count.missing host fail");
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(drives(7), hearsay(8))), "nvme.count.missing host warn");
    for (const char* network : {"Amazon Elastic Block Store", "nvme_card-pd", "MSFT NVMe Accelerator v1.0"}) {
        std::vector<NvmeDrive> list = drives(7);
        list.push_back(drives(1, network).front());
        EXPECT_EQ(said(kLocalNvmeCheck, with_drives(list, sold(8))), "nvme.count.missing host fail")
            << network;
    }
    std::vector<NvmeDrive> azure = drives(7, "Microsoft NVMe Direct Disk v2");
    azure.push_back(azure.front());
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(azure, sold(8))), "");
}

TEST(LocalNvme, WithoutADriverItIsThereAndUnreadIsUnknown) {
    std::vector<NvmeDrive> list = drives(8);
    list[3].controller = list[3].model = Missing{"nvme", "ENOENT"};  // bound to vfio-pci
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(list, sold(8))), "");
    list[4].model = Missing{"model", "EACCES"};
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(list, sold(8))), "nvme.count.unread host unknown");
    EXPECT_EQ(said(kLocalNvmeCheck, with_drives(list, sold(9))), "nvme.count.missing host fail");
    Snapshot unread = with_drives({}, sold(8));
    unread.host.nvme_drives = Missing{"/sys/bus/pci/devices", "EACCES"};
    EXPECT_EQ(said(kLocalNvmeCheck, unread), "nvme.count.unread host unknown");
    EXPECT_EQ(run_check(kLocalNvmeCheck, Snapshot{}, Profile::quick).verdict, Verdict::not_applicable);
}

TEST(RdmaNics, AnEthernetFunctionDoesNotStandInForALostOne) {
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(nics(8), sold(8))), "");
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(nics(7), sold(8))), "nic.count.missing host fail");
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(nics(7), hearsay(8))), "nic.count.missing host warn");
    std::vector<RdmaNic> azure = nics(7);
    azure.push_back(nics(1, false).front());  // mlx5_an0
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(azure, sold(8))), "nic.count.missing host fail");
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(nics(8, false), sold(8))), "");  // RoCE alone
}

TEST(RdmaNics, NoDeviceIsAGuestsMatterAndUnreadIsUnknown) {
    std::vector<RdmaNic> list = nics(8);
    list[0].device = Missing{"infiniband", "ENOENT"};
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(list, sold(8))), "nic.driver.none host warn");
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(list, sold(7))), "");
    list[1].device = Missing{"infiniband", "EACCES"};
    EXPECT_EQ(said(kRdmaNicsCheck, with_nics(list, sold(8))), "nic.count.unread host unknown");
    Snapshot unread = with_nics({}, sold(8));
    unread.host.rdma_nics = Missing{"/sys/bus/pci/devices", "EACCES"};
    EXPECT_EQ(said(kRdmaNicsCheck, unread), "nic.count.unread host unknown");
    EXPECT_EQ(run_check(kRdmaNicsCheck, Snapshot{}, Profile::quick).verdict, Verdict::not_applicable);
}

Snapshot nvlinked(bool up) {
    Snapshot machine = healthy_h100_x8();
    machine.expected.gpu_link = Fact<std::string>("nvlink", "instances.json: x (as of 2026-11-30)");
    for (Device& gpu : machine.gpus) {
        NvLink link;
        link.active = fact(up);
        gpu.telemetry.first.nvidia.nvlinks = fact(std::vector<NvLink>{link, link});
    }
    return machine;
}

TEST(GpuLink, PromisedNvlinkHasToBeUpAtEachGpu) {
    EXPECT_EQ(said(kGpuLinkCheck, nvlinked(true)), "");
    EXPECT_EQ(said(kGpuLinkCheck, nvlinked(false)), "gpu.link.missing host fail");
    Snapshot one = nvlinked(true);
    std::vector<NvLink> links = *one.gpus[2].telemetry.first.nvidia.nvlinks;
    links[0].active = fact(false);
    one.gpus[2].telemetry.first.nvidia.nvlinks = fact(links);
    EXPECT_EQ(said(kGpuLinkCheck, one), "");  // one of two links: nvidia.nvlink counts them
    one.gpus[2].telemetry.first.nvidia.nvlinks = fact(std::vector<NvLink>{});
    EXPECT_EQ(said(kGpuLinkCheck, one), "gpu.link.missing host fail");
    Snapshot unread = nvlinked(true);
    unread.gpus[2].telemetry.first.nvidia.nvlinks = Missing{"nvlinks", "not captured"};
    EXPECT_EQ(said(kGpuLinkCheck, unread), "gpu.link.unread host unknown");
    Snapshot unconfirmed = nvlinked(false);
    unconfirmed.expected.gpu_link =
        Fact<std::string>("nvlink", "instances.json: x (as of 2026-11-30, unverified)");
    EXPECT_EQ(said(kGpuLinkCheck, unconfirmed), "gpu.link.missing host warn");
}

TEST(GpuLink, NobodyPromisedOneToASingleGpu) {
    Snapshot alone = nvlinked(false);
    alone.gpus.resize(1);
    EXPECT_EQ(run_check(kGpuLinkCheck, alone, Profile::boot).verdict, Verdict::not_applicable);
    Snapshot none = nvlinked(false);
    none.expected.gpu_link = fact("none");
    EXPECT_EQ(run_check(kGpuLinkCheck, none, Profile::boot).verdict, Verdict::not_applicable);
    EXPECT_EQ(run_check(kGpuLinkCheck, healthy_h100_x8(), Profile::boot).verdict, Verdict::not_applicable);
}

TEST(GpuLink, XgmiIsProvenOnBareMetalOnly) {
    Snapshot machine = healthy_mi300x_x8();
    machine.expected.gpu_link = Fact<std::string>("xgmi", "--expect");
    for (Device& gpu : machine.gpus) {
        for (KfdNode& node : gpu.amd.kfd_nodes) node.xgmi_links = fact(7U);
    }
    EXPECT_EQ(said(kGpuLinkCheck, machine), "");
    for (Device& gpu : machine.gpus) {
        for (KfdNode& node : gpu.amd.kfd_nodes) node.xgmi_links = fact(0U);
    }
    EXPECT_EQ(said(kGpuLinkCheck, machine), "gpu.link.missing host fail");
    machine.host.hypervisor = fact("kvm");
    EXPECT_EQ(said(kGpuLinkCheck, machine), "gpu.link.missing host warn");
    machine.gpus[0].amd.kfd_nodes[0].xgmi_links = Missing{"io_links", "EACCES"};
    for (std::size_t i = 1; i < machine.gpus.size(); ++i)
        machine.gpus[i].amd.kfd_nodes[0].xgmi_links = fact(7U);
    EXPECT_EQ(said(kGpuLinkCheck, machine), "gpu.link.unread host unknown");
}

TEST(InstancePrice, AgeAndRefusalAreToldAndNeverRaiseTheVerdict) {
    Snapshot machine;
    EXPECT_EQ(run_check(kPriceCheck, machine, Profile::acceptance).verdict, Verdict::not_applicable);
    HourlyPrice price;
    price.instance_usd = fact(20.72);
    price.as_of = fact("2026-10-08");
    price.stale = fact(false);
    machine.instance.price = fact(price);
    EXPECT_EQ(said(kPriceCheck, machine), "");
    price.stale = fact(true);
    machine.instance.price = fact(price);
    EXPECT_EQ(said(kPriceCheck, machine), "price.stale host unknown");
    price.stale = Missing{"clock", "today's date is not known"};
    machine.instance.price = fact(price);
    EXPECT_EQ(said(kPriceCheck, machine), "price.stale host unknown");
    machine.instance.price = Missing{"prices.json", "refused: the price is for 8 GPUs, and 7 are here"};
    EXPECT_EQ(said(kPriceCheck, machine), "price.refused host unknown");
    EXPECT_FALSE(run_check(kPriceCheck, machine, Profile::acceptance).required);
}

}  // namespace
}  // namespace gpucheck
