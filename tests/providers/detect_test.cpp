// Each cloud is recognised by its own mark and by nobody else's, and a machine without one stays unknown.
#include "providers/detect.h"

#include <gtest/gtest.h>

#include "agent/identify.h"
#include "tests/host/temp_machine.h"

namespace gpucheck::providers {
namespace {

Fact<std::string> seen(std::string text) {
    return Fact<std::string>(std::move(text), "file");
}

// A machine on which every file is absent.
Sightings nothing() {
    const Missing absent{"file", "ENOENT"};
    Sightings sightings;
    for (Fact<std::string>* fact :
         {&sightings.sys_vendor, &sightings.product_name, &sightings.bios_vendor,
          &sightings.chassis_asset_tag, &sightings.product_serial, &sightings.product_uuid,
          &sightings.hypervisor_uuid, &sightings.kernel_cmdline, &sightings.cloud_id, &sightings.cloud_name,
          &sightings.runpod_pod_id})
        *fact = absent;
    for (Fact<bool>* fact : {&sightings.etc_vultr, &sightings.run_scaleway, &sightings.crusoe_agent})
        *fact = Fact<bool>(false, "file");
    return sightings;
}

std::string with(Fact<std::string> Sightings::*field, std::string text) {
    Sightings sightings = nothing();
    sightings.*field = seen(std::move(text));
    const Detection detection = detect(sightings);
    return detection.provider.known() ? *detection.provider : "unknown";
}

TEST(Detect, EachMarkNamesItsProvider) {
    using S = Sightings;
    EXPECT_EQ(with(&S::sys_vendor, "DigitalOcean"), "digitalocean");
    EXPECT_EQ(with(&S::bios_vendor, "DigitalOcean"), "digitalocean");
    EXPECT_EQ(with(&S::sys_vendor, "Amazon EC2"), "aws");
    EXPECT_EQ(with(&S::product_uuid, "ec2e1916-9099-7caf-fd21-012345abcdef"), "aws");
    EXPECT_EQ(with(&S::product_uuid, "EC2E1916-9099-7CAF-FD21-012345ABCDEF"), "aws");
    EXPECT_EQ(with(&S::product_uuid, "45E12AEC-DCD1-B213-94ED-012345ABCDEF"), "aws");
    EXPECT_EQ(with(&S::hypervisor_uuid, "ec2e1916-9099-7caf-fd21-012345abcdef"), "aws");
    EXPECT_EQ(with(&S::product_name, "Google Compute Engine"), "gcp");
    EXPECT_EQ(with(&S::product_serial, "GoogleCloud-0123456789ABCDEF"), "gcp");
    EXPECT_EQ(with(&S::chassis_asset_tag, "7783-7084-3265-9085-8269-3286-77"), "azure");
    EXPECT_EQ(with(&S::chassis_asset_tag, "OracleCloud.com"), "oci");
    EXPECT_EQ(with(&S::sys_vendor, "Vultr"), "vultr");
    EXPECT_EQ(with(&S::kernel_cmdline, "root=/dev/vda1 vultr quiet"), "vultr");
    EXPECT_EQ(with(&S::sys_vendor, "Hetzner"), "hetzner");
    EXPECT_EQ(with(&S::sys_vendor, "Linode"), "akamai");
    EXPECT_EQ(with(&S::sys_vendor, "Scaleway"), "scaleway");
    EXPECT_EQ(with(&S::sys_vendor, "UpCloud"), "upcloud");
    EXPECT_EQ(with(&S::product_name, "Exoscale Compute Platform"), "exoscale");
    EXPECT_EQ(with(&S::product_name, "Alibaba Cloud ECS"), "alibaba");
    EXPECT_EQ(with(&S::product_name, "OpenStack Nova"), "openstack");
    EXPECT_EQ(with(&S::chassis_asset_tag, "HUAWEICLOUD"), "openstack");
    EXPECT_EQ(with(&S::product_serial, "ds=nocloud;s=http://10.0.2.2:8000/"), "nocloud");
    EXPECT_EQ(with(&S::kernel_cmdline, "ds=nocloud;s=http://10.0.2.2/ console=ttyS0"), "nocloud");
    EXPECT_EQ(with(&S::runpod_pod_id, "abc123"), "runpod");
    EXPECT_EQ(with(&S::cloud_id, "gce"), "gcp");
    EXPECT_EQ(with(&S::cloud_name, "nebius"), "nebius");
}

TEST(Detect, NearMissesNameNobody) {
    using S = Sightings;
    EXPECT_EQ(with(&S::sys_vendor, "Microsoft Corporation"), "unknown");  // any Hyper-V
    EXPECT_EQ(with(&S::sys_vendor, "DigitalOcean LLC"), "unknown");
    EXPECT_EQ(with(&S::sys_vendor, "QEMU"), "unknown");
    EXPECT_EQ(with(&S::product_serial, "GoogleCloud"), "unknown");
    EXPECT_EQ(with(&S::product_uuid, "45E13AEC-DCD1-B213-94ED-012345ABCDEF"), "unknown");
    EXPECT_EQ(with(&S::product_uuid, "ec2"), "unknown");
    EXPECT_EQ(with(&S::kernel_cmdline, "root=/dev/vultr1 vultrx xvultr"), "unknown");
    EXPECT_EQ(with(&S::cloud_id, "configdrive"), "unknown");  // how the data came, not who runs it
    EXPECT_EQ(with(&S::cloud_id, "none"), "unknown");
    EXPECT_EQ(with(&S::runpod_pod_id, ""), "unknown");
    Sightings other = nothing();
    other.sys_vendor = seen("Dell Inc.");  // one random UUID of 4,096 looks swapped
    other.product_uuid = seen("45E12AEC-DCD1-B213-94ED-012345ABCDEF");
    EXPECT_FALSE(detect(other).provider.known());
}

TEST(Detect, FirmwareWinsOverSoftwareAndContainersOverTheirHost) {
    Sightings droplet = nothing();
    droplet.sys_vendor = seen("DigitalOcean");
    droplet.cloud_id = seen("aws");  // an image that was moved
    Detection detection = detect(droplet);
    EXPECT_EQ(*detection.provider, "digitalocean");
    EXPECT_EQ(detection.sightings.size(), 2U);
    EXPECT_NE(detection.provider.source().find("certain"), std::string::npos);
    Sightings pod = nothing();
    pod.chassis_asset_tag = seen("OracleCloud.com");
    pod.runpod_pod_id = seen("abc123");
    EXPECT_EQ(*detect(pod).provider, "runpod");
}

TEST(Detect, ContradictionIsUnknownAndToldInWords) {
    Sightings both = nothing();
    both.sys_vendor = seen("Vultr");
    both.chassis_asset_tag = seen("OracleCloud.com");
    const Detection detection = detect(both);
    EXPECT_TRUE(detection.ambiguous());
    ASSERT_FALSE(detection.provider.known());
    EXPECT_NE(detection.provider.why().find("vultr"), std::string::npos);
    EXPECT_NE(detection.provider.why().find("oci"), std::string::npos);
}

TEST(Detect, UnknownTellsWhatWasSeenAndNoIdentity) {
    Sightings guest = nothing();
    guest.sys_vendor = seen("QEMU\x01");
    guest.product_serial = seen("SECRET-SERIAL");
    guest.product_uuid = Missing{"product_uuid", "EACCES"};
    const std::string why = detect(guest).provider.why();
    EXPECT_NE(why.find("QEMU?"), std::string::npos) << why;
    EXPECT_NE(why.find("product_uuid EACCES"), std::string::npos) << why;
    EXPECT_EQ(why.find("SECRET"), std::string::npos) << why;
    EXPECT_NE(detect(nothing()).provider.why().find("nothing"), std::string::npos);
}

TEST(Detect, AliasesMeanOneProvider) {
    EXPECT_EQ(provider_named("EC2"), "aws");
    EXPECT_EQ(provider_named("DigitalOcean"), "digitalocean");
    EXPECT_EQ(provider_named("gce"), "gcp");
    EXPECT_EQ(provider_named("whoever"), "whoever");
}

TEST(Detect, FilesOfAMachineAreTheSightings) {
    host::TempMachine machine;
    machine.file("/sys/class/dmi/id/sys_vendor", "QEMU\n")
        .file("/sys/class/dmi/id/chassis_asset_tag", "OracleCloud.com \n")
        .file("/proc/cmdline", "quiet\n")
        .file("/run/cloud-init/instance-data.json", R"({"v1": {"cloud_name": "oracle"}})")
        .beside("process.json",
                R"({"uid":0,"gids":[0],"env":{"RUNPOD_POD_ID":"p"},"now":"2026-11-30T10:00:00Z"})");
    const host::Sysroot root = machine.open();
    const Sightings sightings = read_sightings(root);
    EXPECT_EQ(*sightings.chassis_asset_tag, "OracleCloud.com");
    EXPECT_EQ(*sightings.cloud_name, "oracle");
    EXPECT_EQ(*sightings.runpod_pod_id, "p");
    EXPECT_TRUE(sightings.product_uuid.absent());
    EXPECT_TRUE(sightings.etc_vultr.is(false));
}

}  // namespace
}  // namespace gpucheck::providers
