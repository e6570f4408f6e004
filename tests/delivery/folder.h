// A temporary folder of one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gpucheck::test {

class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "gpucheck-delivery-XXXXXX").string();
        root_ = ::mkdtemp(name.data()) != nullptr ? name : "";
    }
    ~Folder() { std::filesystem::remove_all(root_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string path(const std::string& name) const { return root_ + "/" + name; }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
    std::string read(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::vector<std::string> list(const std::string& name) const {
        std::vector<std::string> names;
        for (const auto& item : std::filesystem::directory_iterator(path(name)))
            names.push_back(item.path().filename().string());
        return names;
    }

  private:
    std::string root_;
};

}  // namespace gpucheck::test
