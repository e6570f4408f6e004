// From a machine's marks and its metadata service to what must be there: who wins, and what is said when
// nobody knows.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "agent/expectations.h"
#include "agent/identify.h"
#include "agent/run_findings.h"
#include "checks/specs/expect.h"
#include "tests/host/temp_machine.h"

namespace gpucheck {
namespace {

constexpr const char* kAws = R"({
"PUT http://169.254.169.254/latest/api/token": {"status": 200, "body": "T"},
"GET http://169.254.169.254/latest/dynamic/instance-identity/document": {"status": 200, "requires": {"X-aws-ec2-metadata-token": "T"}, "body": "{\"instanceId\": \"i-0example\", \"instanceType\": \"p5.48xlarge\", \"region\": \"us-west-2\", \"availabilityZone\": \"us-west-2b\"}"}})";

struct Found {
    Identified who;
    Promised promise;
};

Found found(const host::TempMachine& machine, const cli::MachineOptions& options = {}) {
    const host::Sysroot root = machine.open();
    auto who = identify(root, options, {});
    if (const auto* error = std::get_if<std::string>(&who)) {
        ADD_FAILURE() << *error;
        return {};
    }
    auto promise = promised(options, std::get<BoardTable>(BoardTable::load()), &std::get<Identified>(who));
    if (const auto* error = std::get_if<std::string>(&promise)) {
        ADD_FAILURE() << *error;
        return {};
    }
    return {std::get<Identified>(who), std::get<Promised>(promise)};
}

host::TempMachine& amazon(host::TempMachine& machine) {
    machine.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n").beside("metadata.json", kAws);
    return machine;
}

TEST(Promise, TypeOfTheMetadataServicePromisesItsRow) {
    host::TempMachine machine;
    const Found result = found(amazon(machine));
    EXPECT_TRUE(result.promise.instance.provider.is("aws"));
    EXPECT_TRUE(result.promise.instance.type.is("p5.48xlarge"));
    EXPECT_TRUE(result.promise.expected.gpu_count.is(8U));
    EXPECT_TRUE(result.promise.expected.gpu_link.is("nvlink"));
    EXPECT_NE(result.promise.expected.gpu_count.source().find("instances.json"), std::string::npos);
    EXPECT_TRUE(result.promise.conflicts.empty());
    EXPECT_TRUE(result.who.conflicts.empty());
}

TEST(Promise, CommandLineBeforeConfigBeforeType) {
    host::TempMachine machine;
    cli::MachineOptions options;
    options.config_expect = {"gpu_count=6", "pcie_width=16"};
    Found result = found(amazon(machine), options);
    EXPECT_TRUE(result.promise.expected.gpu_count.is(6U));
    EXPECT_EQ(result.promise.expected.gpu_count.source(), "config");
    ASSERT_EQ(result.promise.conflicts.size(), 1U);
    options.expect = {"gpu_count=7"};
    result = found(machine, options);
    EXPECT_TRUE(result.promise.expected.gpu_count.is(7U));
    EXPECT_TRUE(result.promise.expected.pcie_width.is(16U));
    EXPECT_EQ(result.promise.conflicts.size(), 2U);
}

TEST(Promise, OptionsWinAndTheContradictionIsTold) {
    host::TempMachine machine;
    cli::MachineOptions options;
    options.provider = "gcp";
    options.instance_type = "a3-highgpu-8g";
    Found result = found(amazon(machine), options);
    EXPECT_TRUE(result.promise.instance.provider.is("gcp"));
    EXPECT_TRUE(result.promise.expected.gpu_count.is(8U));
    ASSERT_EQ(result.who.conflicts.size(), 1U);
    EXPECT_NE(result.who.conflicts.front().find("aws"), std::string::npos);
    // Near miss of instance.conflict: the same provider by another name, and then the same type.
    options.provider = "EC2";
    options.instance_type = "p4d.24xlarge";
    result = found(machine, options);
    ASSERT_EQ(result.who.conflicts.size(), 1U);
    EXPECT_NE(result.who.conflicts.front().find("p5.48xlarge"), std::string::npos);
    EXPECT_TRUE(result.promise.instance.type.is("p4d.24xlarge"));
    options.instance_type = "p5.48xlarge";
    EXPECT_TRUE(found(machine, options).who.conflicts.empty());
}

TEST(Promise, NobodyAskedIsAReason) {
    host::TempMachine machine;
    machine.file("/sys/class/dmi/id/sys_vendor", "DigitalOcean\n");
    EXPECT_NE(found(machine).promise.expected.gpu_count.why().find("--provider-token"), std::string::npos);
    EXPECT_NE(found(machine).who.instance.id.why().find("not captured"), std::string::npos);
    cli::MachineOptions off;
    off.metadata = "off";
    EXPECT_NE(found(machine, off).who.instance.id.why().find("--metadata off"), std::string::npos);
    machine.beside("metadata.json", "{}");
    EXPECT_NE(found(machine).who.instance.id.why().find("refused"), std::string::npos);
    host::TempMachine bare;
    const Found nobody = found(bare);
    EXPECT_FALSE(nobody.promise.instance.provider.known());
    EXPECT_FALSE(nobody.promise.expected.gpu_count.known());
    cli::MachineOptions type_alone;
    type_alone.instance_type = "p5.48xlarge";
    EXPECT_NE(found(bare, type_alone).promise.expected.gpu_count.why().find("--provider"), std::string::npos);
}

TEST(Promise, UnusableFilesAreErrorsOfTheCommandLine) {
    host::TempMachine machine;
    machine.file("/sys/class/dmi/id/sys_vendor", "DigitalOcean\n").beside("metadata.json", "{\"GET x\": 1}");
    const host::Sysroot root = machine.open();
    const auto broken = identify(root, {}, {});
    ASSERT_TRUE(std::holds_alternative<std::string>(broken));
    EXPECT_NE(std::get<std::string>(broken).find("metadata.json"), std::string::npos);
    machine.beside("metadata.json", "{}");
    cli::MachineOptions options;
    for (const char* text : {"", "\n", "two words", "\x01"}) {
        machine.beside("token", text);
        options.provider_token = (machine.path() / "token").string();
        EXPECT_TRUE(std::holds_alternative<std::string>(identify(root, options, {}))) << text;
    }
    options.provider_token = "/nonexistent";
    EXPECT_TRUE(std::holds_alternative<std::string>(identify(root, options, {})));
    options.provider_token = machine.path().string();
    EXPECT_TRUE(std::holds_alternative<std::string>(identify(root, options, {}))) << "a folder";
    std::filesystem::remove(machine.path() / "metadata.json");
    ASSERT_EQ(::mkfifo((machine.path() / "metadata.json").c_str(), 0600), 0);
    EXPECT_TRUE(std::holds_alternative<std::string>(identify(root, {}, {}))) << "nobody waits for a writer";
}

// The config is every user's, the token's file need not be.
TEST(Promise, ATokenOfTheConfigThatCannotBeReadIsAReason) {
    host::TempMachine machine;
    machine.file("/sys/class/dmi/id/sys_vendor", "DigitalOcean\n");
    cli::MachineOptions options;
    options.provider_token = "/nonexistent/token";
    options.token_source = "config";
    const Found result = found(machine, options);
    EXPECT_NE(result.who.instance.type.why().find("/nonexistent/token"), std::string::npos)
        << result.who.instance.type.why();
    // Where nobody asks with it, it is not even looked at.
    options.token_source = "";
    options.metadata = "off";
    EXPECT_NE(found(machine, options).who.instance.type.why().find("--metadata off"), std::string::npos);
    options.metadata = "";
    IdentifyPlan given_up;
    given_up.given_up = true;
    EXPECT_TRUE(std::holds_alternative<Identified>(identify(machine.open(), options, given_up)));
    EXPECT_TRUE(std::holds_alternative<std::string>(identify(machine.open(), options, {})));
    host::TempMachine other;
    options.token_source = "config";
    EXPECT_TRUE(found(amazon(other), options).who.instance.type.is("p5.48xlarge"));
}

TEST(Promise, PodsAndNitroPromiseWithoutANetwork) {
    host::TempMachine pod;
    pod.beside(
        "process.json",
        R"({"uid":0,"gids":[0],"env":{"RUNPOD_POD_ID":"p1","RUNPOD_GPU_COUNT":"2","RUNPOD_API_KEY":"PLANTED"},"now":"2026-11-30T10:00:00Z"})");
    const Found result = found(pod);
    EXPECT_TRUE(result.promise.instance.provider.is("runpod"));
    EXPECT_TRUE(result.promise.expected.gpu_count.is(2U));
    pod.beside("process.json",
               R"({"uid":0,"gids":[0],"env":{"RUNPOD_POD_ID":"p1","RUNPOD_GPU_COUNT":"many"}})");
    EXPECT_FALSE(found(pod).promise.expected.gpu_count.known());
    host::TempMachine nitro;
    nitro.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n")
        .file("/sys/class/dmi/id/product_name", "g5.xlarge\n");
    EXPECT_TRUE(found(nitro).promise.instance.type.is("g5.xlarge"));
    EXPECT_TRUE(found(nitro).promise.expected.pcie_width.is(8U));
}

TEST(Promise, EachOptionOfExpectIsReadOrRefused) {
    for (const char* good :
         {"gpu_link=nvlink", "gpu_link=xgmi", "gpu_link=none", "rdma_nics=8", "local_nvme=0"})
        EXPECT_TRUE(std::holds_alternative<Expectations>(parse_expect({good}))) << good;
    for (const char* bad : {"gpu_link=pcie", "gpu_link=", "rdma_nics=-1", "rdma_nics=129", "local_nvme=many"})
        EXPECT_TRUE(std::holds_alternative<std::string>(parse_expect({bad}))) << bad;
}

std::string codes_of(const Found& found) {
    std::string text;
    for (const Finding& each : promise_findings(found.promise, found.who.conflicts))
        text += (text.empty() ? "" : " ") + std::string(each.code) + " " + std::string(name_of(each.verdict));
    return text;
}

std::string aws_with(const std::string& type) {
    std::string text = kAws;
    return text.replace(text.find("p5.48xlarge"), std::string_view("p5.48xlarge").size(), type);
}

TEST(RunFindings, WhoContradictsWhomIsToldAndAgreementIsNot) {
    host::TempMachine machine;
    EXPECT_EQ(codes_of(found(amazon(machine))), "");
    cli::MachineOptions options;
    options.expect = {"gpu_count=7"};
    EXPECT_EQ(codes_of(found(machine, options)), "expect.conflict warn");
    options.expect = {"gpu_count=8"};
    EXPECT_EQ(codes_of(found(machine, options)), "");
    options.instance_type = "p5en.48xlarge";
    EXPECT_EQ(codes_of(found(machine, options)), "instance.conflict warn");
}

TEST(RunFindings, ATypeThatNobodyKnowsIsToldUnlessTheNumberIs) {
    host::TempMachine machine;
    amazon(machine).beside("metadata.json", aws_with("p99.metal"));
    EXPECT_EQ(codes_of(found(machine)), "instance.type.unknown warn");
    cli::MachineOptions options;
    options.expect = {"gpu_count=8"};
    EXPECT_EQ(codes_of(found(machine, options)), "");
    options = {};
    options.instance_type = "P5.48xlarge";
    EXPECT_EQ(codes_of(found(amazon(machine), options)),
              "instance.conflict warn instance.type.unknown unknown");
}

// The firmware of such an instance names its type as well.
TEST(RunFindings, AnUnknownTypeOfTheServiceDoesNotEraseTheFirmwaresPromise) {
    host::TempMachine machine;
    amazon(machine).beside("metadata.json", aws_with("nonsense"));
    machine.file("/sys/class/dmi/id/product_name", "p5.48xlarge\n");
    const Found result = found(machine);
    EXPECT_TRUE(result.promise.expected.gpu_count.is(8U));
    EXPECT_TRUE(result.promise.instance.type.is("p5.48xlarge"));
    EXPECT_EQ(codes_of(result), "instance.conflict warn");
}

TEST(RunFindings, WhatGaveNoAnswerIsNamed) {
    using std::chrono::milliseconds;
    EXPECT_TRUE(refused_findings({}, milliseconds(50)).empty());
    const Findings refused = refused_findings({"/sys/x"}, milliseconds(50));
    ASSERT_EQ(refused.size(), 1U);
    EXPECT_EQ(refused.front().code, "host.read.hangs");
    EXPECT_EQ(refused.front().verdict, Verdict::unknown);
    EXPECT_NE(refused.front().observed.find("50 ms"), std::string::npos);
    const Finding late = out_of_time_finding(milliseconds(2000), "/sys/y");
    EXPECT_EQ(late.code, "run.out_of_time");
    EXPECT_EQ(late.verdict, Verdict::unknown);
    EXPECT_EQ(late.observed, "still at /sys/y");
    EXPECT_EQ(out_of_time_finding(milliseconds(2000), "").observed, "still at the start");
}

}  // namespace
}  // namespace gpucheck
