#!/bin/sh
# Runs the program on described machines and compares what it says with what it said before.
#
#   tests/golden/run.sh BINARY [CASE...]          UPDATE=1 rewrites the expectations: read the difference
#
# CASE.case has one `key: value` a line:
#   root: MACHINE STATE     a machine of tests/machines in one of its kernel states, given as --root
#   set: PATH TEXT          then: a file of that tree that holds something else
#   remove: PATH            or is not there
#   through: snapshot ...   then: packed by this command first, and the archive is given
#   config: TEXT            a line of the policy, given as --config
#   slurm: TEXT             a line of the policy that lies beside slurm.conf, which SLURM_CONF names
#   args: ARGUMENTS         the command line
#   stdout: full|closed     where the result cannot be written
#   same as: CASE           what came out is the same as there
# CASE.txt is what came out: stdout, then stderr with "! " before each line, then the exit status.
set -u
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:?usage: run.sh BINARY [CASE...]}
shift
[ -x "$binary" ] || { echo "$binary: not there" >&2 && exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset SLURMD_NODENAME NO_COLOR
export LC_ALL=C

# One tree per machine and state, copied for the cases that change it.
tree_of() {
    built=$work/trees/$1.$2
    [ -d "$built" ] || {
        mkdir -p "$built" && python3 "$here/../machines/tree.py" build "$1" "$2" "$built" || return 1
    }
}

prepare() {
    unset SLURM_CONF
    tree= config= args= sink=$work/out expected=${1%.case}.txt
    while IFS= read -r line; do
        value=${line#*: }
        case $line in
        root:*)
            tree_of "${value% *}" "${value#* }" || return 1
            tree=$built
            if grep -q -e '^set:' -e '^remove:' "$1"; then
                tree=$work/changed/${built##*/}
                rm -rf "$tree" && mkdir -p "$work/changed" && cp -a "$built" "$tree" || return 1
            fi
            ;;
        through:*)
            # shellcheck disable=SC2086
            "$binary" $value -o "$work/$(basename "$tree").tar.gz" --root "$tree" >/dev/null || return 1
            tree=$work/$(basename "$tree").tar.gz
            ;;
        stdout:*full) sink=/dev/full ;;
        stdout:*closed) sink= ;;
        "same as:"*) expected=$here/$value.txt ;;
        set:*) printf '%s\n' "${value#* }" >"$tree/${value%% *}" || return 1 ;;
        remove:*) rm -r "${tree:?}/$value" || return 1 ;;
        config:*)
            [ -n "$config" ] || { config=$work/gdrcheck.toml && : >"$config"; }
            printf '%s\n' "$value" >>"$config"
            ;;
        slurm:*)
            [ -n "${SLURM_CONF:-}" ] || {
                mkdir -p "$work/slurm" && : >"$work/slurm/gdrcheck.toml"
                SLURM_CONF=$work/slurm/slurm.conf
                export SLURM_CONF
            }
            printf '%s\n' "$value" >>"$work/slurm/gdrcheck.toml"
            ;;
        args:*) args=$value ;;
        '' | '#'*) ;;
        *)
            echo "$1: not understood: $line" >&2
            return 1
            ;;
        esac
    done <"$1"
}

# What differs from run to run and says nothing.
normalised() {
    sed -e 's/"elapsed_us": [0-9]*/"elapsed_us": 0/' -e 's/"version": "[0-9.]*"/"version": "0"/' \
        -e "s|$work/gdrcheck.toml|gdrcheck.toml|g" -e "s|$work/[a-zA-Z0-9_./]*|ROOT|g" "$1"
}

run_case() {
    : >"$work/out"
    # shellcheck disable=SC2086
    set -- $args ${tree:+--root "$tree"} ${config:+--config "$config"}
    if [ -n "$sink" ]; then
        "$binary" "$@" >"$sink" 2>"$work/err" </dev/null
    else
        "$binary" "$@" >&- 2>"$work/err" </dev/null
    fi
    status=$?
    {
        normalised "$work/out"
        normalised "$work/err" | sed 's/^/! /'
        echo "exit $status"
    } >"$work/got"
}

passed=0 failed=0
[ $# -gt 0 ] || set -- "$here"/*.case
for name; do
    file=$here/$(basename "$name" .case).case
    prepare "$file" || { failed=$((failed + 1)); continue; }
    run_case
    [ "${UPDATE:-0}" = 0 ] || [ "$expected" != "${file%.case}.txt" ] || cp "$work/got" "$expected"
    if diff -u "$expected" "$work/got"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $(basename "$file" .case): $(basename "$binary") $args"
    fi
done
echo "golden: $passed passed, $failed failed"
[ "$failed" = 0 ]
