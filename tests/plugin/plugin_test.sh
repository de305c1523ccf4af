#!/bin/sh
# The plugin as a file, then each case of the C host in a process and a directory of its own.
# usage: plugin_test.sh PLUGIN HOST
set -u
plugin=$1
host=$2
failed=0

fail() {
    echo "FAIL $*"
    failed=$((failed + 1))
}

libraries=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $libraries; do
    case $library in
        libc.so.* | ld-linux*) ;;
        *) fail "the plugin needs $library" ;;
    esac
done

for symbol in $(nm -D --defined-only "$plugin" | awk '{print $3}'); do
    case $symbol in
        plugin_name | plugin_type | plugin_version | spank_plugin_version | slurm_spank_*) ;;
        *) fail "the plugin exports $symbol" ;;
    esac
done
# With these hooks Slurm starts one more program per job, and takes the option away from prolog scripts.
if nm -D --defined-only "$plugin" | grep -qE 'slurm_spank_job_(prolog|epilog)'; then fail "a job_prolog hook"; fi

for name in $(nm -D --undefined-only "$plugin" | awk '{print $2}' | grep -E '^(slurm|spank)_'); do
    case $name in
        slurm_error | slurm_debug | slurm_spank_log) ;;
        spank_context | spank_get_item | spank_getenv | spank_setenv | spank_unsetenv) ;;
        spank_job_control_setenv | spank_option_register) ;;
        *) fail "the plugin calls $name, which spank.h does not promise" ;;
    esac
done

cases="options unused-option any-order"
if [ "$(id -u)" = 0 ]; then
    cases="$cases exports user-settings devices export-on-request refusal garbage-files helper helper-that-hangs"
else
    echo "not root: job files of this user are rightly refused, cases that need one are left out"
fi
for name in $cases; do
    directory=$(mktemp -d)
    mkdir "$directory/devices"
    chmod 755 "$directory"
    touch "$directory/devices/nvidia0" "$directory/devices/nvidia1" "$directory/devices/nvidia2" \
        "$directory/devices/nvidiactl" "$directory/devices/nvidia-uvm"
    if timeout 60 env -u NCCL_CONF_FILE "$host" "$plugin" "$name" "$directory"; then
        echo "ok $name"
    else
        fail "$name"
    fi
    rm -rf "$directory"
done
[ "$failed" -eq 0 ]
