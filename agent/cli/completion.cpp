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
std::string cases(const CLI::App& app, const std::string& indent, const std::string& variable = "words") {
    std::string text;
    for (const CLI::App* command : app.get_subcommands(nullptr)) {
        text += indent + command->get_name() + ") " + variable + "=\"" + long_options(*command) + "\" ;;\n";
    }
    text += indent + "*) " + variable + "=\"" + command_names(app) + " " + long_options(app) + "\" ;;\n";
    return text;
}

// gpucheck-fleet is another program, of another package, perhaps of another version: it is asked for its
// words by the help that it prints. Its commands and options begin in the third column.
const char* const kFleetWords =
    R"(sed -n '/^examples:/q;s/^  \(--[a-z-]*\).*/\1/p;s/^  \([a-z][a-z]*\)  .*/\1/p')";

// What follows `fleet` in bash and zsh: sets `shown` to the help of the command named in `sub`, `values` to
// what the option `previous` takes, and `fleet_words` to commands and options.
std::string ask_fleet() {
    return std::string(R"(        case $sub in *[!a-z]*) sub= ;; esac
        case $previous in --*[!a-z-]*) previous= ;; --*) ;; *) previous= ;; esac
        shown=$(gpucheck fleet ${sub:+"$sub"} --help 2>/dev/null </dev/null)
        values=
        [ -z "$previous" ] || values=$(printf '%s\n' "$shown" | sed -n "s/^  $previous \([a-zA-Z|]*\)  .*/\1/p" | tr '|' ' ')
        fleet_words=$(printf '%s\n' "$shown" | )") +
           kFleetWords + ")\n";
}

const char* const kBashFleet = R"(        case $values in
            '') COMPREPLY=($(compgen -W "$fleet_words" -- "$current"))
                [[ -z $sub || $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current")) ;;
            *[A-Z]*) COMPREPLY=($(compgen -f -- "$current")) ;;
            *) COMPREPLY=($(compgen -W "$values" -- "$current")) ;;
        esac
        return
    fi
)";

const char* const kZshFleet = R"(        case $values in
            '') compadd -- ${(f)fleet_words}; [[ -z $sub || $PREFIX == -* ]] || _files ;;
            *[A-Z]*) _files ;;
            *) compadd -- ${(s: :)values} ;;
        esac
        return
    fi
)";

const char* const kFishFleet = R"(function __gpucheck_fleet_help
    set -l after
    set -l seen 0
    for word in (commandline -opc)
        if test $seen -eq 1; and string match -qr '^[a-z]+$' -- $word
            set after $word
            break
        end
        test $word = fleet; and set seen 1
    end
    gpucheck fleet $after --help 2>/dev/null </dev/null
end
function __gpucheck_fleet_words
    set -l last (commandline -opc)[-1]
    if string match -qr '^--[a-z-]+$' -- $last
        set -l values (__gpucheck_fleet_help | sed -n "s/^  $last \([a-zA-Z|]*\)  .*/\1/p")
        if test -n "$values"
            string match -qr '[A-Z]' -- $values; or string split '|' -- $values
            return
        end
    end
    __gpucheck_fleet_help | )";

std::string bash(const CLI::App& app) {
    return "# bash completion for gpucheck\n"
           "_gpucheck() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word "
           "words i\n"
           "    local sub= shown values fleet_words\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        word=${COMP_WORDS[i]}\n"
           "        case \" " +
           command_names(app) +
           " \" in *\" $word \"*) command=$word; break ;; esac\n"
           "    done\n"
           "    if [[ $command == fleet ]]; then\n"
           "        for ((i++; i < COMP_CWORD; i++)); do\n"
           "            case ${COMP_WORDS[i]} in -*) ;; *) sub=${COMP_WORDS[i]}; break ;; esac\n"
           "        done\n" +
           ask_fleet() + kBashFleet +
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
           "    local words_list command=\"\" word sub=\"\" previous=${words[CURRENT-1]} shown values "
           "fleet_words\n"
           "    for word in ${words[2,CURRENT-1]}; do\n"
           "        if [[ $command == fleet ]]; then\n"
           "            case $word in -*) ;; *) sub=$word; break ;; esac\n"
           "            continue\n"
           "        fi\n"
           "        [[ -z $command ]] || break\n"
           "        case \" " +
           command_names(app) +
           " \" in *\" $word \"*) command=$word ;; esac\n"
           "    done\n"
           "    if [[ $command == fleet ]]; then\n" +
           ask_fleet() + kZshFleet +
           "    local words_text=\"\"\n"
           "    case $command in\n" +
           cases(app, "        ", "words_text") +
           "    esac\n"
           "    words_list=(${(s: :)words_text})\n"
           "    compadd -- $words_list\n"
           "    _files\n"
           "}\n"
           // The file is the function's body the first time that compinit loads it.
           "if [[ ${funcstack[1]} == _gpucheck ]]; then _gpucheck \"$@\"; else compdef _gpucheck gpucheck; "
           "fi\n";
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
    text += std::string(kFishFleet) + kFleetWords +
            "\nend\ncomplete -c gpucheck -n '__fish_seen_subcommand_from fleet' -a "
            "'(__gpucheck_fleet_words)'\n";
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
