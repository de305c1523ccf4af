# What the tests of a cluster share. Each test has a fresh cluster: starting one takes about a second.
# Set by suite.sh: $prefix (installed tree), $work (this run's directory), $here.

cluster=$here/cluster
tree=$here/../machines/tree.py
failures=0

note() { printf '    %s\n' "$*"; }

failed() {
    failures=$((failures + 1))
    printf '    FAILED: %s\n' "$*"
}

# expect WHAT ACTUAL EXPECTED (a glob pattern)
expect() {
    # shellcheck disable=SC2053
    [[ $2 == $3 ]] || failed "$1: \"$2\" instead of \"$3\""
}

# Until COMMAND succeeds, at most SECONDS: within SECONDS COMMAND…
within() {
    local end=$((SECONDS + $1 + 1))
    shift
    while [ $SECONDS -lt $end ]; do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}

build_machines() {
    python3 "$tree" build dgx_h100 dmabuf "$work/machines/well"
    python3 "$tree" build dgx_h100 none "$work/machines/peermem-missing"
}

# The machine that NODE is from now on: machine NODE NAME
machine() { ln -sfn "$work/machines/$2" "$dir/trees/$1"; }

# A machine of this test's own: own_machine NODE; prints its directory
own_machine() {
    cp -a "$work/machines/well" "$dir/machine-$1"
    ln -sfn "$dir/machine-$1" "$dir/trees/$1"
    echo "$dir/machine-$1"
}

# Lines for gdrcheck.toml; [probe] is added.
policy() {
    printf '%s\n' "$1" "[probe]" "root = \"$dir/trees/%n\"" >"$dir/etc/gdrcheck.toml.new"
    mv "$dir/etc/gdrcheck.toml.new" "$dir/etc/gdrcheck.toml"
}

standard_policy='[policy]
on_fail = "drain"
[drain]
budget_percent = 100'

# start_cluster NODES: all well, the standard policy
start_cluster() {
    local index
    mkdir -p "$dir"/{etc,trees,user}
    chmod 0755 "$dir"
    chmod 0777 "$dir/user"
    for ((index = 1; index <= $1; ++index)); do machine "n$index" well; done
    policy "$standard_policy"
    CLUSTER_CONF="Prolog=${prolog:-$prefix/libexec/gdrcheck/gdrcheck-prolog}
Epilog=$prefix/libexec/gdrcheck/gdrcheck-epilog
PrologFlags=Alloc,DeferBatch
${extra_conf:-}" \
        CLUSTER_PLUGSTACK="optional $prefix/lib/slurm/spank_gdrcheck.so helper=$prefix/libexec/gdrcheck/gdrcheck-prolog" \
        "$cluster" start "$dir" "$1" || return 1
    export SLURM_CONF=$dir/etc/slurm.conf
}

stop_cluster() { "$cluster" stop "$dir"; }

# Jobs are a user's, not root's; with a bare environment.
as_user() {
    (cd "$dir/user" && exec setpriv --reuid=nobody --regid=nogroup --clear-groups \
        env -i PATH="$PATH" HOME="$dir/user" SLURM_CONF="$SLURM_CONF" "${user_environment[@]}" timeout 60 "$@")
}
user_environment=()

none_completing() { [ -z "$(squeue -h -t completing,running -o %i)" ] && [ -z "$(sinfo -h -N -t completing -o %N)" ]; }

# run COMMAND…: as the user, when the jobs before are over; sets $out, $err, $rc
run() {
    within 5 none_completing || note "a job before is not over: $(squeue -h)"
    out=$(as_user "$@" 2>"$dir/stderr")
    rc=$?
    err=$(<"$dir/stderr")
    [ $rc -ne 124 ] || failed "$1 hangs: $err"
}

# submit SBATCH-OPTIONS… SCRIPT: sets $job; the script's text is the last argument, its output goes to $dir/user/JOB.out
submit() {
    local script=${*: -1}
    printf '%s\n' "$script" >"$dir/user/script"
    run sbatch --parsable -o "$dir/user/%j.out" -e "$dir/user/%j.err" "${@:1:$#-1}" "$dir/user/script"
    job=$out
    [ "$rc" -eq 0 ] || failed "sbatch: $err"
}

job_field() { # JOB FIELD
    scontrol -o show job "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}
job_is() { [[ $(job_field "$1" JobState) == "$2" ]]; }
job_ended() { [[ $(job_field "$1" JobState) =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)$ ]]; }
state() { sinfo -h -N -n "$1" -o %T; }
reason() { sinfo -h -N -n "$1" -o %E; }
reason_20() { sinfo -h -R -n "$1" -o %20E; }
comment() { scontrol -o show node "$1" | sed -n 's/.* Comment=\(.*\)/\1/p'; }
is_drained() { [[ $(state "$1") == drain* ]]; }
is_idle() { [[ $(state "$1") == idle ]]; }

expect_drained() { # NODE REASON-PATTERN
    within 5 is_drained "$1" || failed "$1 is $(state "$1"), not drained"
    expect "reason of $1" "$(reason "$1")" "$2"
}
expect_untouched() { # NODES…
    local node
    for node in "$@"; do
        [[ $(state "$node") != drain* ]] || failed "$node is $(state "$node"): $(reason "$node")"
    done
}

# As an admin does it: when the job that failed has left. Slurm 22.05 keeps a node that is resumed before that "mixed".
resume() {
    local node
    within 10 none_completing || failed "jobs do not end: $(squeue -h)"
    for node in "$@"; do
        [[ $(state "$node") != drain* ]] || scontrol update NodeName="$node" State=RESUME
        within 10 is_idle "$node" || failed "after the resume $node is $(state "$node"): $(reason "$node")"
    done
}

# Slurm's own jobs are over and every process of the prolog is gone.
no_leftovers() {
    within 5 not_running 'gdrcheck-(prolog|slurm|epilog)' || failed "still running: $(pgrep -af 'gdrcheck-(prolog|slurm|epilog)')"
}
not_running() { ! pgrep -f "^$prefix/libexec/gdrcheck/$1" >/dev/null; }
