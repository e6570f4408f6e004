// Completion scripts; see completion.h.
#include "agent/cli/completion.h"

#include <CLI/CLI.hpp>

namespace gpucheck::cli {
namespace {

std::string long_options(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) text += (text.empty() ? "--" : " --") + name;
    }
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
        if (app.get_parent() != nullptr) text += " " + command->get_name() + " " + long_options(*command);
    }
    return text;
}

std::string command_names(const CLI::App& app) {
    std::string text;
    for (const CLI::App* command : app.get_subcommands(nullptr))
        text += (text.empty() ? "" : " ") + command->get_name();
    return text;
}

// Cases "  run) words=...;;" for bash and zsh alike.
std::string cases(const CLI::App& app, const std::string& indent) {
    std::string text;
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
        text += indent + command->get_name() + ") words=\"" + long_options(*command) + "\" ;;\n";
    }
    text += indent + "*) words=\"" + command_names(app) + " " + long_options(app) + "\" ;;\n";
    return text;
}

std::string bash(const CLI::App& app) {
    return "# bash completion for gpucheck\n"
           "_gpucheck() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word "
           "words i\n"
           "    case $previous in\n"
           "        --from|--check-table|--model|--config|--key) COMPREPLY=($(compgen -f -- \"$current\")); "
           "return ;;\n"
           "        --assume) COMPREPLY=($(compgen -W 'datasheet published' -- \"$current\")); return ;;\n"
           "        --machine|--specs|--driver-dir) COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n"
           "        --output) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n"
           "        --profile) COMPREPLY=($(compgen -W 'quick boot acceptance' -- \"$current\")); return ;;\n"
           "        --format) COMPREPLY=($(compgen -W 'text json csv junit prometheus nagios html' -- "
           "\"$current\")); return ;;\n"
           "        --exit-map) COMPREPLY=($(compgen -W 'standard nagios npd' -- \"$current\")); return ;;\n"
           "        explain) COMPREPLY=($(compgen -W \"$(gpucheck explain --json 2>/dev/null | sed -n "
           "'s/.*\"code\": *\"\\([^\"]*\\)\".*/\\1/p')\" -- \"$current\")); return ;;\n"
           "        capture) COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n"
           "        completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$current\")); return ;;\n"
           "    esac\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        word=${COMP_WORDS[i]}\n"
           "        case \" " +
           command_names(app) +
           " \" in *\" $word \"*) command=$word; break ;; esac\n"
           "    done\n"
           "    case $command in\n" +
           cases(app, "        ") +
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "}\n"
           "complete -F _gpucheck gpucheck\n";
}

std::string zsh(const CLI::App& app) {
    return "#compdef gpucheck\n"
           "_gpucheck() {\n"
           "    local words_list command=\"\" word\n"
           "    for word in ${words[2,CURRENT-1]}; do\n"
           "        case \" " +
           command_names(app) +
           " \" in *\" $word \"*) command=$word; break ;; esac\n"
           "    done\n"
           "    local words=\"\"\n"
           "    case $command in\n" +
           cases(app, "        ") +
           "    esac\n"
           "    words_list=(${(s: :)words})\n"
           "    compadd -- $words_list\n"
           "    _files\n"
           "}\n"
           "compdef _gpucheck gpucheck\n";
}

// fish keeps quotes apart with \'.
std::string quoted(std::string text) {
    for (std::size_t i = 0; (i = text.find('\'', i)) != std::string::npos; i += 2) text.insert(i, "\\");
    return "'" + text + "'";
}

std::string fish(const CLI::App& app) {
    std::string text = "# fish completion for gpucheck\n";
    const std::string none = "not __fish_seen_subcommand_from " + command_names(app);
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
        text += "complete -c gpucheck -n " + quoted(none) + " -a " + command->get_name() + " -d " +
                quoted(command->get_description().substr(0, 60)) + "\n";
    }
    const auto options = [&](const CLI::App& owner, const std::string& condition) {
        for (const CLI::Option* option : owner.get_options()) {
            for (const std::string& name : option->get_lnames()) {
                text += "complete -c gpucheck -n " + quoted(condition) + " -l " + name +
                        (option->get_items_expected_max() > 0 ? " -r" : "") + "\n";
            }
        }
    };
    options(app, none);
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
        options(*command, "__fish_seen_subcommand_from " + command->get_name());
    }
    return text;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
    if (shell == "bash") return bash(app);
    if (shell == "zsh") return zsh(app);
    if (shell == "fish") return fish(app);
    return {};
}

}  // namespace gpucheck::cli
