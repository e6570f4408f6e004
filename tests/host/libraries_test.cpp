// Vendor libraries in the loader's order: stubs, leftovers, zero bytes, and folders that do not count.
#include "agent/host/libraries.h"

#include <gtest/gtest.h>

#include "agent/host/libraries_folders.h"
#include "tests/host/drivers_examples.h"

namespace gpucheck::host {
namespace {

std::vector<std::string> paths_of(const std::vector<Library>& libraries) {
    std::vector<std::string> paths;
    for (const Library& library : libraries) paths.push_back(library.path);
    return paths;
}

void set_library_path(TempMachine& machine, const std::string& value) {
    machine.beside("process.json", R"({"uid":0,"gids":[0],"env":{"LD_LIBRARY_PATH":")" + value + "\"}}");
}

TEST(Libraries, ExampleMachines) {
    GPUCHECK_EXAMPLE_OR_SKIP(h100, "machine-h100-sxm-x8");
    const auto nvidia = read_libraries(*h100);
    ASSERT_EQ(nvidia.size(), 2U);
    EXPECT_EQ(nvidia[0].soname, "libcuda.so.1");
    EXPECT_EQ(nvidia[0].path, "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
    EXPECT_EQ(nvidia[0].found_by, "ld.so.conf");
    EXPECT_TRUE(nvidia[0].version.is("570.133.20"));
    EXPECT_TRUE(nvidia[0].size_bytes.is(33U));
    EXPECT_FALSE(nvidia[0].stub);
    EXPECT_EQ(nvidia[1].soname, "libnvidia-ml.so.1");

    GPUCHECK_EXAMPLE_OR_SKIP(vf, "machine-mi300x-vf");
    const auto amd = read_libraries(*vf);
    ASSERT_EQ(amd.size(), 2U);
    EXPECT_EQ(amd[0].soname, "libamdhip64.so.6");
    EXPECT_TRUE(amd[0].version.is("6.3.60302"));
    EXPECT_TRUE(amd[0].real_path.is("/opt/rocm-6.3.2/lib/libamdhip64.so.6.3.60302"));
    EXPECT_EQ(amd[1].soname, "libhsa-runtime64.so.1");
}

TEST(Libraries, TheLoadersOrder) {
    TempMachine machine;
    for (const char* folder :
         {"/opt/mine", "/usr/local/cuda/compat", "/usr/lib/x86_64-linux-gnu", "/lib64"}) {
        machine.file(std::string(folder) + "/libcuda.so.570.1.2", "x")
            .link(std::string(folder) + "/libcuda.so.1", "libcuda.so.570.1.2");
    }
    machine.file("/etc/ld.so.conf", "include ld.so.conf.d/*.conf\n")
        .file("/etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda/compat/\n");
    set_library_path(machine, "/nowhere::/opt/mine/:relative:$ORIGIN/lib;/lib64");
    const auto libraries = read_libraries(machine.open());
    EXPECT_EQ(paths_of(libraries), (std::vector<std::string>{"/opt/mine/libcuda.so.1", "/lib64/libcuda.so.1",
                                                             "/usr/local/cuda/compat/libcuda.so.1",
                                                             "/usr/lib/x86_64-linux-gnu/libcuda.so.1"}));
    EXPECT_EQ(libraries[0].found_by, "LD_LIBRARY_PATH");
    EXPECT_EQ(libraries[2].found_by, "ld.so.conf");
    EXPECT_TRUE(libraries[2].compat);
    EXPECT_FALSE(libraries[3].compat);
    EXPECT_EQ(libraries[3].found_by, "default");
}

TEST(Libraries, OneFolderUnderTwoNamesIsOne) {
    TempMachine machine;
    machine.file("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "x").link("/lib", "usr/lib");
    EXPECT_EQ(read_libraries(machine.open()).size(), 1U);
}

TEST(Libraries, StubsAreMarked) {
    TempMachine machine;
    machine.file("/usr/local/cuda-12.4/lib64/stubs/libcuda.so", "x")
        .file("/usr/lib/x86_64-linux-gnu/libcuda.so", "x")  // a link for compilers: nobody loads it
        .file("/opt/stubs-and-more/libcuda.so.1", "x");
    set_library_path(machine, "/usr/local/cuda-12.4/lib64/stubs:/opt/stubs-and-more");
    const auto libraries = read_libraries(machine.open());
    ASSERT_EQ(libraries.size(), 2U);
    EXPECT_EQ(libraries[0].soname, "libcuda.so");
    EXPECT_TRUE(libraries[0].stub);
    EXPECT_FALSE(libraries[1].stub);
}

TEST(Libraries, ToolkitFoldersCountOnlyWhenConfigured) {
    TempMachine machine;
    machine.file("/usr/local/cuda/lib64/libnvidia-ml.so.1", "x")
        .file("/opt/rocm-6.3.2/lib/libamdhip64.so.6", "x")
        .file("/usr/lib/wsl/lib/libcuda.so.1", "x")
        .file("/etc/ld.so.conf.d/wsl.conf", "/usr/lib/wsl/lib\n");
    EXPECT_TRUE(read_libraries(machine.open()).empty());
    machine.link("/opt/rocm", "rocm-6.3.2");
    const auto libraries = read_libraries(machine.open());
    ASSERT_EQ(libraries.size(), 1U);
    EXPECT_EQ(libraries[0].found_by, "rocm");
}

TEST(Libraries, NamesAndVersions) {
    TempMachine machine;
    const std::string folder = "/usr/lib/x86_64-linux-gnu/";
    for (const char* name : {"libamdhip64.so.6", "libamdhip64.so.7.0.1", "librocm_smi64.so.7",
                             "libamd_smi.so", "libamd_smi.so.25", "libcuda.so.2", "libcuda.so.1.1",
                             "libcudart.so.12", "libcuda.so.1x", "libhsa-runtime64.so.2"}) {
        machine.file(folder + name, "x");
    }
    machine.file(folder + "libcuda.so.1", "")
        .link(folder + "libamdhip64.so.7", "libamdhip64.so.7.0.1")
        .link(folder + "libnvidia-ml.so.1", "libnvidia-ml.so.570.0");  // dangling
    const auto libraries = read_libraries(machine.open());
    EXPECT_EQ(paths_of(libraries),
              (std::vector<std::string>{folder + "libcuda.so.1", folder + "libnvidia-ml.so.1",
                                        folder + "libamdhip64.so.6", folder + "libamdhip64.so.7",
                                        folder + "librocm_smi64.so.7", folder + "libamd_smi.so",
                                        folder + "libamd_smi.so.25"}));
    EXPECT_TRUE(libraries[0].size_bytes.is(0U));
    EXPECT_EQ(libraries[0].version.why(), "no version in the file's name");
    EXPECT_TRUE(libraries[1].real_path.absent());
    EXPECT_TRUE(libraries[1].size_bytes.absent());
    EXPECT_FALSE(libraries[2].version.known());
    EXPECT_TRUE(libraries[3].version.is("7.0.1"));
}

TEST(LibraryFolders, ConfigurationFiles) {
    TempMachine machine;
    machine
        .file("/etc/ld.so.conf",
              "# comment\n/opt/a  # why\nhwcap 1 nosegneg\n/opt/b=libc6\nrelative\n"
              "include ld.so.conf.d/*.conf extra/?.conf /etc/absolute.conf\nincludes /opt/never\n")
        .file("/etc/ld.so.conf.d/10.conf", "\t/opt/c/\n")
        .file("/etc/ld.so.conf.d/20.conf.bak", "/opt/never\n")
        .file("/etc/extra/x.conf", "/opt/d\ninclude ../ld.so.conf\n")
        .file("/etc/absolute.conf", "/opt/e\n/opt/a\n");
    std::vector<std::string> configured;
    for (const LibraryFolder& folder : library_folders(machine.open())) {
        if (folder.found_by == "ld.so.conf") configured.push_back(folder.path);
    }
    EXPECT_EQ(configured, (std::vector<std::string>{"/opt/a", "/opt/b", "/opt/c", "/opt/d", "/opt/e"}));
}

TEST(LibraryFolders, AreBounded) {
    TempMachine machine;
    std::string many;
    for (int i = 0; i < 5000; ++i) many += "/opt/" + std::to_string(i) + "\n";
    machine.file("/etc/ld.so.conf", "include /etc/ld.so.conf\n" + many);
    set_library_path(machine, std::string(3000, ':'));
    EXPECT_EQ(library_folders(machine.open()).size(), 128U);
}

}  // namespace
}  // namespace gpucheck::host
