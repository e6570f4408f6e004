// Shell completion made from the command line's own definition, so that it cannot lag behind.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace gpucheck::cli {

/// The script for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace gpucheck::cli
