// Shapes of identities, each beside the near-misses that must survive: a capture that rewrites a driver
// version judges differently.
#include "agent/capture/patterns.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/capture/redact.h"

namespace gpucheck::capture {
namespace {

std::string people(std::string_view text) {
    Redactor redactor;
    return redactor.text(text, Vocabulary::people);
}

TEST(Patterns, WhatMustSurvive) {
    for (const char* text : {"0000:83:00.0",
                             "00000000:83:00.0",
                             "PCI:0000:3b:00",
                             "pci 0000:80:03.0: PCI bridge to [bus 83]",
                             "10de:2330",
                             "1002:74b5",
                             "570.133.20",
                             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.133.20",
                             "96.00.74.00.01",
                             "113-M3000100-103",
                             "driver version 1.2.3.4",
                             "\"driver_version\": \"1.2.3.4\"",
                             "Version: 28.39.10.2",
                             "fw 1.2.3.4",
                             "ROCm 6.3.2.1",
                             "libfoo-1.2.3.4",
                             "libfoo_1.2.3.4",
                             "1.2.3.4-1ubuntu2",
                             "1.2.3.4.5",
                             "v1.2.3.4",
                             "Depends: libc6 (>= 2.1.3.4)",
                             "1.2.3.400",
                             "96.00.99.04",
                             "6.8.0-55-generic",
                             "6.10.5-2125197.24.04",
                             "#57-Ubuntu SMP",
                             "buildd@lcy02-amd64-001",
                             "user@1000.service",
                             "getty@tty1.service",
                             "0::/user.slice/user-1000.slice",
                             "std::string",
                             "12:30:45",
                             "2026-11-30T10:00:00Z",
                             "20-11-30-10-00-00",
                             "NVIDIA H100 80GB HBM3",
                             "3cbd4e5f6071829d",
                             "gfx942",
                             "keyboard=us",
                             "key: value",
                             "iommu=pt pci=realloc=off",
                             "usb 1-1: Mfr=3, Product=2, SerialNumber=1",
                             "serial8250: ttyS0 at I/O 0x3f8",
                             "127.0.0.1",
                             "169.254.169.254",
                             "fd00:ec2::254",
                             "255.255.255.0",
                             "::1",
                             "8be4df61-93ca-11d2-aa0d-00e098032b8c",
                             "00000000-0000-0000-0000-000000000000",
                             "ff:ff:ff:ff:ff:ff",
                             "00:00:00:00:00:00",
                             "/home/ubuntu/x",
                             "tokens=512 per second",
                             "cc:06:00 90:00"}) {
        EXPECT_EQ(people(text), text);
    }
}

TEST(Patterns, WhatMustGo) {
    EXPECT_EQ(people("GPU-12345678-9abc-def0-1234-56789abcdef0"), "GPU-00000000-0000-4000-8000-000000000001");
    EXPECT_EQ(people("root=UUID=12345678-9ABC-def0-1234-56789abcdef0 ro"),
              "root=UUID=00000000-0000-4000-8000-000000000001 ro");
    EXPECT_EQ(people("root=PARTUUID=1f2e3d4c-02 ro"), "root=PARTUUID=SERIAL000001 ro");
    EXPECT_EQ(people("eth0: 0c:42:a1:03:12:34."), "eth0: 02:00:00:00:00:01.");
    EXPECT_EQ(people("BOOTIF=01-0c-42-a1-03-12-34"), "BOOTIF=02:00:00:00:00:01");
    EXPECT_EQ(people("from 10.1.2.3, to 10.1.2.3:22 and 10.9.9.9/24."),
              "from 192.0.2.1, to 192.0.2.1:22 and 192.0.2.2/24.");
    EXPECT_EQ(people("ip=10.0.0.5::10.0.0.1:255.255.255.0:h:eth0"),
              "ip=192.0.2.1::192.0.2.2:255.255.255.0:h:eth0");
    EXPECT_EQ(people("at 2a01:4f8:c0c:1234::1: up, fe80::e42:a1ff:fe03:1234%eth0"),
              "at 2001:db8::1: up, 2001:db8::2%eth0");
    EXPECT_EQ(people("mail Jo.Doe+x@corp.example.com now"), "mail person1@example.invalid now");
    EXPECT_EQ(people("NVRM: GPU Board Serial Number: 1650000000000"),
              "NVRM: GPU Board Serial Number: 9000000000001");
    EXPECT_EQ(people("usb 1-1: SerialNumber: AB12CD34"), "usb 1-1: SerialNumber: SERIAL000001");
    EXPECT_EQ(people("LD=/home/jdoe/lib:/home/jdoe"), "LD=/home/user1/lib:/home/user1");
    EXPECT_EQ(people("https://bob:pw@host.x/y"), "https://host.x/y");
    EXPECT_EQ(people("db_password=hunter2 x"), "db_password=REDACTED x");
    EXPECT_EQ(people("Authorization: Bearer abc.def"), "Authorization: Bearer REDACTED");
    EXPECT_EQ(people("{\"api_key\": \"abc\", \"n\": 1}"), "{\"api_key\": \"REDACTED\", \"n\": 1}");
}

TEST(Patterns, TheKernelsOwnFilesHoldNoDottedQuads) {
    Redactor redactor;
    EXPECT_EQ(redactor.file("/sys/module/mlx5_core/version", "24.10.0.7\n"), "24.10.0.7\n");
    EXPECT_EQ(redactor.file("/var/lib/dpkg/status", "Package: x\nVersion: 4.0.0.63\n"),
              "Package: x\nVersion: 4.0.0.63\n");
    EXPECT_EQ(redactor.file("/sys/class/net/eth0/address", "0c:42:a1:03:12:34\n"), "02:00:00:00:00:01\n");
    EXPECT_EQ(redactor.file("/proc/cmdline", "ip=10.0.0.5 ro\n"), "ip=192.0.2.1 ro\n");
    EXPECT_EQ(redactor.file("/var/log/x", "from 10.0.0.5\n"), "from 192.0.2.1\n");
}

TEST(Patterns, ManyAddressesNeverCollide) {
    Pseudonyms pseudonyms;
    std::set<std::string> seen;
    for (int i = 0; i < 2000; ++i) {
        seen.insert(pseudonyms.of(Identity::ipv4,
                                  "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1)));
    }
    EXPECT_EQ(seen.size(), 2000U);
}

TEST(Patterns, HostileTextIsHandled) {
    for (const std::string& text : {std::string(), std::string("\xff\xfe@:/"), std::string(100000, ':'),
                                    std::string(100000, 'a'), std::string("serial"), std::string("serial:"),
                                    std::string("UUID="), std::string("/home/"), std::string("a@")}) {
        EXPECT_LE(people(text).size(), text.size() + 16);
    }
    std::string words;
    for (int i = 0; i < 20000; ++i) words += "a.b-c_d.";
    EXPECT_FALSE(people(words).empty());
}

}  // namespace
}  // namespace gpucheck::capture
