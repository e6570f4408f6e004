// Who the machine belongs to must be gone from every file of a capture, consistently, and what a check judges
// must remain.
#include "agent/capture/redact.h"

#include <gtest/gtest.h>

#include "agent/host/system.h"
#include "checks/json/json.h"
#include "tests/capture/captured_machine.h"

namespace gpucheck::capture {
namespace {

using host::Sysroot;
using host::TempMachine;

void ask_root(const Sysroot& root) {
    ask_for_all(root, "/");
}

TEST(Redact, NothingOfASecretIsLeft) {
    TempMachine machine;
    machine.file("/etc/hostname", "vault-gpu-17\n")
        .file("/etc/hosts",
              "127.0.0.1 localhost\n10.20.30.40 vault-gpu-17.corp.acme.io vault-gpu-17 db-master-3\n")
        .file("/etc/machine-id", "0123456789abcdef0123456789abcdee\n")
        .file("/proc/sys/kernel/random/boot_id", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee\n")
        .file("/proc/cmdline",
              "BOOT_IMAGE=/0123456789abcdef0123456789abcdee/vmlinuz "
              "root=UUID=deadbeef-1111-4222-8333-444444444444 ro\n")
        .file("/proc/1/environ", std::string("AWS_SECRET_ACCESS_KEY=planted-a\0CUDA_VISIBLE_DEVICES=0\0", 54))
        .file("/proc/1/comm", "systemd\n")
        .file("/proc/77/cmdline", std::string("/usr/bin/train\0--hf-token\0planted-b\0", 35))
        .file(
            "/proc/78/cmdline",
            std::string("/usr/bin/nv-fabricmanager\0-c\0/usr/share/nvidia/nvswitch/fabricmanager.cfg\0", 74))
        .file("/etc/passwd",
              "root:x:0:0:root:/root:/bin/bash\nmhuber:$6$planted-c:1001:1001:Maria "
              "Huber:/home/mhuber:/bin/bash\n")
        .file("/etc/group", "root:x:0:\nvideo:x:44:mhuber\nrender:x:109:mhuber,root\nmhuber:x:1001:\n")
        .file("/sys/class/dmi/id/product_serial", "J3X0042ABC\n")
        .file("/sys/firmware/dmi/tables/DMI", std::string("J3X0042ABC\0planted-d", 20))
        .file("/var/log/fabricmanager.log",
              "vault-gpu-17 serial J3X0042ABC by maria@acme.io at 10.20.30.40 for mhuber\n")
        .file(
            "/run/cloud-init/instance-data.json",
            R"({"v1":{"local_hostname":"vault-gpu-17","kernel_release":"6.8.0-55-generic"},"user_data":"planted-e","ssh_token":"planted-f"})")
        .link("/var/lib/x", "../../home/mhuber/x")
        .beside(
            "process.json",
            R"({"uid":0,"gids":[0],"env":{"LD_LIBRARY_PATH":"/home/mhuber/lib","NVIDIA_API_KEY":"planted-g",
            "PLANTED":"planted-h","http_proxy":"http://u:planted-i@10.20.30.40:3128","CUDA_X":"on vault-gpu-17"}})");
    const Captured captured(machine.open(), ask_root);
    ASSERT_EQ(captured.error, "");
    const std::string all = captured.everything();
    for (const char* secret :
         {"planted", "vault-gpu", "acme", "db-master", "10.20.30.40", "0123456789abcdef", "aaaaaaaa",
          "deadbeef", "mhuber", "Maria", "Huber", "maria@", "J3X0042ABC", "--hf-token"}) {
        EXPECT_EQ(all.find(secret), std::string::npos)
            << secret << " in: " << all.substr(all.find(secret), 80);
    }
    EXPECT_EQ(captured.at("/etc/hostname"), "host-1\n");
    EXPECT_EQ(captured.at("/etc/hosts"),
              "127.0.0.1 localhost\n192.0.2.1 host-1.example.invalid host-1 host-2\n");
    EXPECT_EQ(captured.at("/etc/group"),
              "root:x:0:\nvideo:x:44:user1\nrender:x:109:user1,root\nuser1:x:1001:\n");
    EXPECT_EQ(captured.at("/etc/passwd"),
              "root:x:0:0:root:/root:/bin/bash\nuser1:x:1001:1001::/home/user1:/bin/bash\n");
    EXPECT_EQ(captured.at("/proc/1/environ"), std::string("CUDA_VISIBLE_DEVICES=0\0", 23));
    EXPECT_EQ(captured.at("/proc/77/cmdline"), std::string("/usr/bin/train\0", 15));
    EXPECT_EQ(captured.at("/proc/78/cmdline").size(), 74U);
    EXPECT_EQ(captured.at("/var/log/fabricmanager.log"),
              "host-1 serial SERIAL000001 by person1@example.invalid at 192.0.2.1 for user1\n");
    const Sysroot root = captured.open();
    EXPECT_EQ(root.read("/sys/firmware/dmi/tables/DMI").why(), "not captured");
    EXPECT_EQ(root.link_target("/var/lib/x").value(), "../../home/user1/x");
    EXPECT_EQ(root.process().env.at("LD_LIBRARY_PATH"), "/home/user1/lib");
    EXPECT_EQ(root.process().env.at("http_proxy"), "http://192.0.2.1:3128");
    EXPECT_EQ(root.process().env.at("CUDA_X"), "on host-1");
    // Only what a reader takes of it.
    EXPECT_EQ(captured.at("/run/cloud-init/instance-data.json").find("6.8.0-55-generic"), std::string::npos);
}

TEST(Redact, HardwareIdsAgreeInBothSpellings) {
    TempMachine machine;
    const char* kfd = "/sys/devices/virtual/kfd/kfd/topology/nodes/";
    machine
        .file("/sys/devices/pci0000:80/0000:83:00.0/unique_id", "3cbd4e5f6071829d\n")  // 4376740584420901533
        .file(std::string(kfd) + "1/properties",
              "simd_count 1216\nunique_id 4376740584420901533\nhive_id 0\nlocation_id 33536\n")
        .file(std::string(kfd) + "2/properties",
              "simd_count 1216\nunique_id 4376740584420901533\nhive_id 9000000000000000001\n")
        .file(std::string(kfd) + "3/properties", "unique_id 17\nhive_id 9000000000000000001\n");
    const Captured captured(machine.open(), ask_root);
    const std::string hex = captured.at("/sys/devices/pci0000:80/0000:83:00.0/unique_id");
    ASSERT_EQ(hex.size(), 17U);
    EXPECT_NE(hex, "3cbd4e5f6071829d\n");
    const std::string decimal = std::to_string(std::stoull(hex, nullptr, 16));
    EXPECT_NE(captured.at(std::string(kfd) + "1/properties")
                  .find("unique_id " + decimal + "\nhive_id 0\nlocation_id 33536\n"),
              std::string::npos);
    EXPECT_NE(captured.at(std::string(kfd) + "2/properties").find("unique_id " + decimal + "\n"),
              std::string::npos);
    const auto hive_of = [&](const char* node) {
        const std::string text = captured.at(std::string(kfd) + node + "/properties");
        return text.substr(text.find("hive_id"));
    };
    EXPECT_EQ(hive_of("2"), hive_of("3"));
    EXPECT_EQ(captured.everything().find("4376740584420901533"), std::string::npos);
}

TEST(Redact, SerialsKeepWhatAProviderIsRecognisedBy) {
    Redactor redactor;
    const auto serial = [&](const std::string& value) {
        return redactor.file("/sys/devices/virtual/dmi/id/product_serial", value + "\n").value();
    };
    EXPECT_EQ(serial("448812077"), "900000001\n");  // DigitalOcean: a number
    EXPECT_EQ(serial("448812077"), "900000001\n");
    EXPECT_TRUE(serial("GoogleCloud-0123456789ABCDEF0123456789ABCDEF").starts_with("GoogleCloud-0000"));
    EXPECT_EQ(serial("ds=nocloud;s=http://10.0.0.2/"), "ds=nocloud\n");
    for (const char* nobodys : {"To be filled by O.E.M.", "Default string", "0", "", "None", "0000000000"}) {
        EXPECT_EQ(serial(nobodys), std::string(nobodys) + "\n");
    }
    EXPECT_TRUE(
        redactor.file("/sys/devices/virtual/dmi/id/product_uuid", "ec2a1b2c-1111-2222-3333-444455556666\n")
            ->starts_with("ec2"));
    EXPECT_EQ(
        redactor.file("/sys/devices/virtual/dmi/id/product_uuid", "45E12AEC-DCD1-B213-94ED-01234ABCDEF0\n")
            ->substr(4, 4),
        "2aec");
    const auto tag = [&](const char* value) {
        return *redactor.file("/sys/devices/virtual/dmi/id/chassis_asset_tag", value);
    };
    EXPECT_EQ(tag("7783-7084-3265-9085-8269-3286-77\n"),
              "7783-7084-3265-9085-8269-3286-77\n");  // Azure's, the same everywhere
    EXPECT_EQ(tag("OracleCloud.com\n"), "OracleCloud.com\n");
    EXPECT_NE(tag("INV-004711\n"), "INV-004711\n");
}

TEST(Redact, TheSerialNumberCapabilityOfConfigSpace) {
    std::string config(4096, '\x11');
    const auto put = [&](std::size_t at, std::uint32_t value) {
        for (int i = 0; i < 4; ++i)
            config[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
    };
    put(0x100, 0x1b010001);  // AER, next at 0x1b0
    put(0x1b0, 0x20010003);  // device serial number, next at 0x200
    put(0x200, 0x10010019);  // next points back: a loop
    const std::string kept = without_device_serial(config);
    std::string expected = config;
    for (std::size_t i = 0x1b4; i < 0x1bc; ++i) expected[i] = '\0';
    EXPECT_EQ(kept, expected);
    EXPECT_EQ(without_device_serial(config.substr(0, 64)), config.substr(0, 64));
    EXPECT_EQ(without_device_serial(config.substr(0, 0x1b6)).size(), 0x1b6U);
    EXPECT_EQ(without_device_serial(""), "");
}

TEST(Redact, ANameThatIsAnOrdinaryWordBreaksNothing) {
    for (const char* everyday : {"ubuntu", "nvidia", "localhost"}) {
        TempMachine machine;
        machine.file("/etc/hostname", std::string(everyday) + "\n")
            .file("/etc/os-release", "ID=ubuntu\n")
            .file("/sys/module/nvidia/version", "570\n");
        const Captured captured(machine.open(), ask_root);
        EXPECT_EQ(captured.at("/etc/os-release"), "ID=ubuntu\n") << everyday;
        EXPECT_EQ(captured.at("/sys/module/nvidia/version"), "570\n") << everyday;
    }
    TempMachine machine;  // a plain word: gone from logs, kept where the kernel uses it as a word of its own
    machine.file("/etc/hostname", "integrity\n")
        .file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n")
        .file("/var/log/messages", "integrity kernel: up\n");
    const Captured captured(machine.open(), ask_root);
    EXPECT_EQ(captured.at("/etc/hostname"), "host-1\n");
    EXPECT_EQ(captured.at("/var/log/messages"), "host-1 kernel: up\n");
    EXPECT_EQ(captured.at("/sys/kernel/security/lockdown"), "none [integrity] confidentiality\n");
}

TEST(Redact, AShortNameGoesOnlyWhereANameStands) {
    TempMachine machine;
    machine.file("/etc/hostname", "# ours\nvm\n")
        .file("/proc/sys/kernel/hostname", "vm\n")
        .file("/etc/hosts", "::1 ip6-localhost ip6-loopback\n10.1.2.3\tvm vm.corp.acme.io # vm\n")
        .file("/var/log/messages", "vm kernel: vm.max_map_count\n");
    const Captured captured(machine.open(), ask_root);
    EXPECT_EQ(captured.at("/etc/hostname"), "# ours\nhost-1\n");
    EXPECT_EQ(captured.at("/proc/sys/kernel/hostname"), "host-1\n");
    EXPECT_EQ(captured.at("/etc/hosts"),
              "::1 ip6-localhost ip6-loopback\n192.0.2.1\thost-1 host-1.example.invalid # vm\n");
    EXPECT_EQ(captured.at("/var/log/messages"), "vm kernel: vm.max_map_count\n");
}

TEST(Redact, AccountFilesThatAreNoneDoNotLeak) {
    Redactor redactor;
    EXPECT_EQ(redactor.file("/etc/passwd", "garbage\n:::\nroot:x:0:0:r:/root:/bin/sh\n"),
              "\n\nroot:x:0:0:r:/root:/bin/sh\n");
    EXPECT_EQ(redactor.file("/etc/group", "render:!:109:\nubuntu:x:1000:\nx:hash:5:"),
              "render:!:109:\nubuntu:x:1000:\nx:x:5:");
}

}  // namespace
}  // namespace gpucheck::capture
