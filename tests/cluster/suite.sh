#!/usr/bin/env bash
# The programs and the plugin on a real Slurm. usage: suite.sh TREE [PATTERN]
# TREE: an installed tree, or a build directory, which is installed first. PATTERN: only tests whose name it matches.
# Ends with 77 where there is no Slurm to test on. KEEP=1 keeps logs, configuration and the users' files.
set -u
prefix=$(readlink -f "${1:?TREE}")
pattern=${2:-}
here=$(dirname "$(readlink -f "$0")")
PATH=$PATH:/usr/sbin:/sbin
export PATH

skip() {
    echo "SKIPPED: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "needs root, to start slurmd"
for program in slurmd slurmctld munged srun setpriv nsenter python3; do
    command -v "$program" >/dev/null || skip "$program is not installed"
done
unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces of its own (a container without CAP_SYS_ADMIN?)"

work=$(mktemp -d "${TMPDIR:-/tmp}/gdrcheck-cluster.XXXXXX")
chmod 0755 "$work"
dir=$work/none
finish() {
    for keeper in "$work"/*/keeper.pid; do
        [ ! -e "$keeper" ] || "$here/cluster" stop "$(dirname "$keeper")"
    done
    if [ -n "${KEEP:-}" ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap finish EXIT
trap 'exit 1' INT TERM

if [ -e "$prefix/CMakeCache.txt" ]; then
    cmake --install "$prefix" --prefix "$work/prefix" >"$work/install.log" 2>&1 || {
        cat "$work/install.log"
        exit 1
    }
    prefix=$work/prefix
fi
for file in libexec/gdrcheck/gdrcheck-{prolog,epilog,health,slurm} lib/slurm/spank_gdrcheck.so; do
    [ -e "$prefix/$file" ] || skip "$prefix/$file was not built"
done

# shellcheck source=tests/cluster/lib.sh
. "$here/lib.sh"
for file in "$here"/*_test.sh; do
    # shellcheck disable=SC1090
    . "$file"
done

build_machines
total=0
failed_tests=()
for test in $(declare -F | sed -n 's/^declare -f test_//p'); do
    [[ $test =~ $pattern ]] || continue
    total=$((total + 1))
    dir=$work/$test
    mkdir "$dir"
    began=${EPOCHREALTIME/./}
    (
        "test_$test"
        stop_cluster
        exit $((failures > 0))
    ) >"$dir/report" 2>&1
    result=$?
    printf '%s %-44s %5d ms\n' "$([ $result -eq 0 ] && echo ok || echo FAILED)" "${test//_/ }" \
        $(((${EPOCHREALTIME/./} - began) / 1000))
    if [ $result -ne 0 ]; then
        failed_tests+=("$test")
        cat "$dir/report"
        "$here/cluster" stop "$dir"
        grep -hE 'gdrcheck|[Pp]rolog' "$dir"/log/n*.log 2>/dev/null | tail -n 8 | sed 's/^/    log: /'
    fi
    [ -n "${KEEP:-}" ] || rm -rf "$dir"
done
echo "$((total - ${#failed_tests[@]})) of $total passed on $(slurmd -V)"
[ ${#failed_tests[@]} -eq 0 ]
