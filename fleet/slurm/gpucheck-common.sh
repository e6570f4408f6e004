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
wait_s=10              # of these, for drivers that still come up: no GPU seconds after boot is no fault (hyperpod-cli PR#425)
drain_unknown=no       # yes: a node that nobody could look at is drained too

say() {
    printf '%s: node %s: %s\n' "$role" "$node" "$1" >&2
    # Without a syslog there is still slurmd's log.
    if command -v logger >/dev/null 2>&1; then logger -t "gpucheck-$role" -- "node $node: $1" 2>/dev/null || :; fi
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
}

# begin ROLE FOLDER: node name, settings, state folder.
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
    if ! mkdir -p "$state" || ! trusted "$state"; then
        unable "cannot keep reports in $state"
        return 1
    fi
    report=$state/$role.json
    output=$state/$role.out
}

unable() {
    verdict=unknown
    line="unknown: $1"
}

# bounded SECONDS COMMAND...: its exit status; 124 when it did not end in time. What cannot be killed (a process in a
# driver, state D) is not waited for: that is how health checkers took their nodes along (NHC#134, NHC#161).
bounded() {
    ticks=$(($1 * 20))
    shift
    ended=$(mktemp "$state/ended.XXXXXX") || return 125
    # shellcheck disable=SC2016  # for the inner shell
    setsid sh -c 'ended=$1; shift; "$@"; echo $? >"$ended"' sh "$ended" "$@" </dev/null >"$output" 2>&1 &
    child=$!
    while [ ! -s "$ended" ] && [ "$ticks" -gt 0 ]; do
        sleep 0.05 || sleep 1
        ticks=$((ticks - 1))
    done
    if [ -s "$ended" ]; then
        read -r status <"$ended" || status=125
    else
        status=124
        kill -s TERM -- "-$child" 2>/dev/null || :
        sleep 0.5 || sleep 1
        kill -s KILL -- "-$child" 2>/dev/null || :
    fi
    rm -f "$ended"
    case $status in '' | *[!0-9]*) status=125 ;; esac
    return "$status"
}

# One run of gpucheck. Only its own exit status 1, with a report, is a fault.
judge() {
    # Tried in a shell of its own first: where exec cannot redirect, POSIX ends the shell, and Slurm would drain for that.
    if ! (: >>"$state/$role.lock") 2>/dev/null; then
        unable "cannot write $state/$role.lock"
        return
    fi
    exec 9>>"$state/$role.lock"
    # The lock goes with the process that hangs: a second one would hang too. Jobs that start together wait for each other;
    # a health check comes alone and has 60 s.
    lock_s=$limit_s
    [ "$role" != health ] || lock_s=2
    if ! flock -w "$lock_s" 9; then
        unable "gpucheck hung: an earlier run has not ended yet"
        return
    fi
    if [ ! -x "$gpucheck" ]; then
        unable "$gpucheck is not there"
        return
    fi
    if [ -e "$report" ]; then mv -f "$report" "$report.previous" || { unable "cannot write $report"; return; }; fi
    set -- "$gpucheck" run --profile quick --wait "$wait_s" --output "$report"
    [ -z "$config" ] || set -- "$@" --config "$config"
    # The node's name, since `gpucheck` may be a wrapper of the site.
    bounded "$limit_s" env -i "PATH=$PATH" "LC_ALL=C" "SLURMD_NODENAME=$node" "$@"
    ran=$?
    case $ran in
        0 | 1 | 2)
            if [ ! -s "$report" ]; then
                unable "gpucheck ended with $ran and left no report"
                return
            fi
            ;;
        124) unable "gpucheck hung: no report within $limit_s s"; return ;;
        *) unable "gpucheck itself broke: exit status $ran"; return ;;
    esac
    case $ran in
        0) verdict=pass line=pass ;;
        1) verdict=fail line="fail, see $report" ;;
        2) verdict=unknown line="unknown, see $report" ;;
    esac
    [ "$ran" != 0 ] || return 0
    output=$state/$role.line
    if bounded 5 "$gpucheck" report render --as line "$report" && [ -s "$output" ]; then
        # Nothing that scontrol or a shell could read as anything but text.
        line=$(head -n 1 "$output" | tr -c 'A-Za-z0-9 ._:;,()+/-' '_' | cut -c 1-100) || :
        line=${line%_}
    fi
}
