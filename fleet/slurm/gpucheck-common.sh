# shellcheck shell=sh
# What prolog, epilog and health check share: one bounded run of gpucheck, its verdict and one line about it.
# A node that is drained for nothing costs as much as one that is not drained; a script that hangs takes the node with it.
#
# Sourced by the scripts beside it. Sets `verdict` (pass, fail, unknown) and `line` (what an operator reads).

# shellcheck disable=SC2034  # they read what is set here
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset IFS
umask 077

# Settings; gpucheck-slurm.conf beside the scripts, else /etc/gpucheck/slurm.conf, changes them.
gpucheck=/usr/bin/gpucheck
scontrol=/usr/bin/scontrol
slurm_conf=            # empty: Slurm's own default
config=                # empty: gpucheck's own default, /etc/gpucheck/config.json
state=/var/lib/gpucheck/slurm
limit_s=20             # for one run of gpucheck; slurmd ends a HealthCheckProgram after 60 s
look_s=5               # of these, for the look itself
wait_s=10              # of these, for drivers that still come up: no GPU seconds after boot is no fault (hyperpod-cli PR#425)
drain_unknown=no       # yes: a node that nobody could look at is drained too
newline='
'

say() {
    printf '%s: node %s: %s\n' "$role" "$node" "$1" >&2
    # Without a syslog there is still slurmd's log.
    if command -v logger >/dev/null 2>&1; then timeout -k 0.5 1 logger -t "gpucheck-$role" -- "node $node: $1" 2>/dev/null || :; fi
}

# Whoever can write these decides what root runs.
trusted() {
    [ -n "$(find -L "$1" -maxdepth 0 \( -uid 0 -o -uid "$(id -u)" \) ! -perm -020 ! -perm -002 2>/dev/null)" ]
}

is_path() {
    case $1 in
        *[!A-Za-z0-9/._-]*) return 1 ;;
        /?*) return 0 ;;
        *) return 1 ;;
    esac
}

# KEY=VALUE lines. Nothing in the file is executed; what it cannot mean is said, and the built-in value stays.
read_settings() {
    while IFS= read -r setting || [ -n "$setting" ]; do
        value=${setting#*=}
        case $setting in
            '' | '#'*) continue ;;
            gpucheck=* | scontrol=* | state=*) is_path "$value" || { say "$1: not an absolute path: $setting"; continue; } ;;
            slurm_conf=* | config=*) [ -z "$value" ] || is_path "$value" || { say "$1: not an absolute path: $setting"; continue; } ;;
            limit_s=*) case $value in [1-9] | [12][0-9] | 30) ;; *) say "$1: not 1 to 30: $setting"; continue ;; esac ;;
            wait_s=*) case $value in [0-9] | 1[0-9] | 20) ;; *) say "$1: not 0 to 20: $setting"; continue ;; esac ;;
            drain_unknown=*) case $value in yes | no) ;; *) say "$1: not yes or no: $setting"; continue ;; esac ;;
            *) say "$1: no such setting: $setting"; continue ;;
        esac
        case $setting in
            gpucheck=*) gpucheck=$value ;;
            scontrol=*) scontrol=$value ;;
            state=*) state=$value ;;
            slurm_conf=*) slurm_conf=$value ;;
            config=*) config=$value ;;
            limit_s=*) limit_s=$value ;;
            wait_s=*) wait_s=$value ;;
            drain_unknown=*) drain_unknown=$value ;;
        esac
    done <"$1"
    # A run that waits for drivers until it is ended tells nothing of the GPU that never came.
    if [ "$wait_s" -gt 0 ] && [ "$wait_s" -gt $((limit_s - look_s)) ]; then
        wait_s=$((limit_s > look_s ? limit_s - look_s : 0))
        say "$1: wait_s leaves less than $look_s s of limit_s=$limit_s: it waits for $wait_s s"
    fi
}

# begin ROLE FOLDER: node name, settings, state folder. Where nothing can be kept the look is still taken.
begin() {
    role=$1
    node=${SLURMD_NODENAME:-}
    case $node in
        '' | *[!A-Za-z0-9._-]*) node=$(uname -n) && node=${node%%.*} || node=unknown ;;
    esac
    for file in "$2/gpucheck-slurm.conf" /etc/gpucheck/slurm.conf; do
        [ -e "$file" ] || continue
        if trusted "$file" && [ -r "$file" ]; then read_settings "$file"; else say "$file is not root's alone: left out"; fi
        break
    done
    keeps=yes
    if ! mkdir -p "$state" 2>/dev/null || ! trusted "$state"; then
        keeps=no
        say "nothing can be kept in $state"
    fi
    report=$state/$role.json
}

unable() {
    verdict=unknown
    line="unknown: $1"
}

# keep FILE TEXT: whole or not at all. A disk that takes nothing says nothing about GPUs: what it does not take is in the log.
keep() {
    [ "$keeps" = yes ] || return 1
    if (printf '%s\n' "$2" >"$1.new") 2>/dev/null && mv -f "$1.new" "$1" 2>/dev/null; then return 0; fi
    rm -f "$1.new" 2>/dev/null || :
    return 1
}

forget() {
    [ "$keeps" = no ] || rm -f "$@" 2>/dev/null || :
}

# What a person reads: one line of letters that neither scontrol nor a shell nor a terminal takes for anything else.
plain() { # text, most letters
    printf '%s' "${1%%"$newline"*}" | tr -c 'A-Za-z0-9 ._:;,()+/-' '_' | cut -c "1-$2"
}

# bounded SECONDS COMMAND...: its exit status; 124 when it did not end in time, 125 when that is not known. `asked` is its standard
# input, `answer` what it printed. All goes through pipes, so that a full disk neither drains a node nor keeps a sick one. What
# cannot be killed (a process in a driver, state D) is not waited for, also where it holds the pipe: that is how health checkers
# took their nodes along (NHC#134, NHC#161).
bounded() {
    bound_s=$1
    shift
    answer='' status=125
    errors=/dev/null
    if [ "$keeps" = yes ] && (: >"$state/$role.errors") 2>/dev/null; then errors=$state/$role.errors; fi
    # Its process group comes first, its exit status last.
    # shellcheck disable=SC2016  # for the inner shells
    told=$({ printf '%s' "$asked" | setsid sh -c 'echo "$$"; "$@"; printf "\n=%s\n" "$?"' sh "$@" 2>"$errors" & } |
        timeout "$bound_s" sh -c 'read -r group && echo "$group" && exec sed "/^=[0-9][0-9]*\$/q"' 9>&- 2>/dev/null)
    read_all=$?
    group=${told%%"$newline"*}
    case $group in '' | *[!0-9]*) return 125 ;; esac
    case ${told##*"$newline"} in
        =[0-9]*)
            status=${told##*"$newline="}
            answer=${told%"$newline"=*}
            answer=${answer#*"$newline"}
            answer=${answer%"$newline"}
            return "$status"
            ;;
    esac
    [ "$read_all" != 124 ] || status=124
    kill -s TERM -- "-$group" 2>/dev/null || return "$status"
    sleep 0.5 || sleep 1
    kill -s KILL -- "-$group" 2>/dev/null || :
    return "$status"
}

# The lock goes with the process that hangs: a second one would hang too. Jobs that start together wait for each other; a health
# check comes alone and has 60 s. Without a place for a lock the look is taken all the same.
locked() {
    lock_s=$limit_s
    [ "$role" != health ] || lock_s=2
    lock=''
    [ "$keeps" = no ] || lock=$state/$role.lock
    # Tried in a shell of its own first: where exec cannot redirect, POSIX ends the shell, and Slurm would drain for that.
    if [ -n "$lock" ] && (: >>"$lock") 2>/dev/null; then
        exec 9>>"$lock"
    elif [ -n "$lock" ] && (: <"$state") 2>/dev/null; then
        exec 9<"$state"
    else
        return 0
    fi
    flock -E 75 -w "$lock_s" 9 2>/dev/null || [ $? != 75 ]
}

# One run of gpucheck. Only its own exit status 1, with a report, is a fault.
judge() {
    if [ ! -x "$gpucheck" ]; then
        unable "$gpucheck is not there"
        return
    fi
    if ! locked; then
        unable "gpucheck hung: an earlier run has not ended yet"
        return
    fi
    # Looks that come each minute are the operator's, not the receiver's of the config.
    set -- "$gpucheck" run --profile quick --wait "$wait_s" --format json --no-deliver
    [ -z "$config" ] || set -- "$@" --config "$config"
    # The node's name and who asks, since `gpucheck` may be a wrapper of the site.
    asked=''
    bounded "$limit_s" env -i "PATH=$PATH" "LC_ALL=C" "SLURMD_NODENAME=$node" "SLURM_SCRIPT_CONTEXT=$role" "$@"
    ran=$?
    case $ran in
        0 | 1 | 2)
            case $answer in
                '{'*'}') ;;
                *) unable "gpucheck ended with $ran and left no report"; return ;;
            esac
            ;;
        124) unable "gpucheck hung: no report within $limit_s s"; return ;;
        *) unable "gpucheck itself broke: exit status $ran"; return ;;
    esac
    asked=$answer
    see='its report could not be kept'
    if keep "$report.next" "$asked"; then
        see="see $report"
        [ ! -e "$report" ] || mv -f "$report" "$report.previous" 2>/dev/null || :
        mv -f "$report.next" "$report" 2>/dev/null || :
    fi
    case $ran in
        0) verdict=pass line=pass ;;
        1) verdict=fail line="fail, $see" ;;
        2) verdict=unknown line="unknown, $see" ;;
    esac
    [ "$ran" != 0 ] || return 0
    if bounded 5 env -i "PATH=$PATH" "LC_ALL=C" "$gpucheck" report render --as line - && [ -n "$answer" ]; then
        line=$(plain "$answer" 100) || :
    fi
    asked=''
}
