# What is done to a node, and what is never done to it.

job_on_all() { run srun -N2 --gres=gpu:8 -l printenv SLURMD_NODENAME; }

test_a_healthy_job() {
    start_cluster 2
    job_on_all
    expect "exit code" "$rc" 0
    expect "stdout" "$(sort <<<"$out" | tr '\n' ' ')" "0: n1 1: n2 "
    expect "stderr" "$err" ""
    expect_untouched n1 n2
    expect "comment of n1" "$(comment n1)" ""
    gone() { [ -z "$(ls "$dir"/nodes/*/run/gdrcheck/job-* 2>/dev/null)" ]; }
    within 5 gone || failed "the epilog left $(ls "$dir"/nodes/*/run/gdrcheck)"
    no_leftovers
}

# Neither a program nor an RPC of ours: what cannot be executed is not missed.
test_a_healthy_job_needs_no_slurm_program() {
    cp -a "$prefix" "$dir/prefix"
    chmod a-x "$dir/prefix/libexec/gdrcheck/gdrcheck-slurm"
    prolog=$dir/prefix/libexec/gdrcheck/gdrcheck-prolog start_cluster 2
    job_on_all
    expect "exit code" "$rc" 0
    expect_untouched n1 n2
}

test_report_mode_drains_nothing_and_tells() {
    start_cluster 2
    policy '[policy]
on_fail = "report"'
    machine n2 peermem-missing
    job_on_all
    expect "exit code" "$rc" 0
    expect "what the user reads" "$err" "*gdrcheck: n2: peermem-missing*"
    expect_untouched n1 n2
    expect "comment of n2" "$(comment n2)" "gdr: peermem-missing*"
    expect "comment of n1" "$(comment n1)" ""
}

test_without_a_configuration_file_nothing_is_drained() {
    start_cluster 2
    rm "$dir/etc/gdrcheck.toml"
    job_on_all
    expect "exit code" "$rc" 0
    expect_untouched n1 n2
}

test_the_kill_switch() {
    start_cluster 2
    policy '[policy]
on_fail = "off"'
    machine n2 peermem-missing
    run srun -N2 --gres=gpu:8 --gdr-check=enforce true
    expect "exit code" "$rc" 0
    expect_untouched n1 n2
    expect "comment of n2" "$(comment n2)" ""
}

test_a_broken_configuration_stops_no_job() {
    start_cluster 2
    policy '[policy]
on_fial = "drain"'
    machine n2 peermem-missing
    job_on_all
    expect "exit code" "$rc" 0
    expect_untouched n1 n2
}

test_jobs_of_one_node_are_not_in_scope() {
    start_cluster 2
    machine n1 peermem-missing
    run srun -N1 -w n1 --gres=gpu:8 true
    expect "exit code" "$rc" 0
    run srun -N2 true # no GPUs
    expect "exit code without GPUs" "$rc" 0
    expect_untouched n1 n2
}

test_another_reason_is_kept() {
    start_cluster 2
    machine n2 peermem-missing
    # drained while a job is on its way there: the prolog finds it so
    scontrol update NodeName=n2 State=DRAIN Reason="fan broken, ticket 7"
    # the admin's reservation of the node outlives our word on it
    "$cluster" on "$dir" n2 env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURMD_NODENAME=n2 SLURM_JOB_ID=9999 \
        SLURM_JOB_UID=0 SLURM_JOB_NUM_NODES=2 SLURM_JOB_GPUS=0,1,2,3,4,5,6,7 SLURM_NODELIST="n[1-2]" \
        SLURM_SCRIPT_CONTEXT=prolog_slurmd "$prefix/libexec/gdrcheck/gdrcheck-prolog" >/dev/null
    expect "reason of n2" "$(reason n2)" "fan broken, ticket 7"
    machine n2 well
    health n2
    expect "n2 after the health program" "$(state n2)" "drain*"
    expect "reason of n2" "$(reason n2)" "fan broken, ticket 7"
}

# As slurmd starts it: nothing but the node's name in its environment, slurmd as its parent.
health() {
    local node=$1
    "$cluster" on "$dir" "$node" env -i PATH="$PATH" SLURMD_NODENAME="$node" SLURM_CONF="$SLURM_CONF" \
        "$prefix/libexec/gdrcheck/gdrcheck-health" >"$dir/health.out" 2>&1
    expect "exit code of the health program" $? 0
}

drain_by_us() { # NODE (n2)
    machine n2 peermem-missing
    job_on_all
    expect_drained n2 "gdr: peermem-missing *"
    within 10 none_completing || failed "the job does not end"
}

test_the_health_program_resumes_what_we_drained() {
    start_cluster 2
    drain_by_us
    health n2
    expect "n2 while it is broken" "$(state n2)" "drain*"
    machine n2 well
    health n2
    within 5 is_idle n2 || failed "n2 is $(state n2): $(reason n2) $(<"$dir/health.out")"
    job_on_all
    expect "exit code of the next job" "$rc" 0
}

test_slurmd_runs_the_health_program() {
    extra_conf="HealthCheckProgram=$prefix/libexec/gdrcheck/gdrcheck-health
HealthCheckInterval=3
HealthCheckNodeState=ANY" start_cluster 2
    drain_by_us
    machine n2 well
    within 12 is_idle n2 || failed "n2 is $(state n2): $(reason n2)"
}

test_a_reason_that_an_admin_changed_is_the_admins() {
    start_cluster 2
    drain_by_us
    scontrol update NodeName=n2 State=DRAIN Reason="gdr: peermem-missing, and I want to look at it"
    machine n2 well
    health n2
    expect "n2" "$(state n2)" "drain*"
    expect "reason of n2" "$(reason n2)" "gdr: peermem-missing, and I want to look at it"
}

test_a_drain_with_our_words_by_another_is_left() {
    start_cluster 2
    scontrol update NodeName=n2 State=DRAIN Reason="gdr: peermem-missing nvidia_peermem: absent"
    health n2
    expect "n2" "$(state n2)" "drain*"
}

test_no_more_than_three_resumes_a_day() {
    start_cluster 2
    local round
    for round in 1 2 3; do
        drain_by_us
        machine n2 well
        health n2
        within 5 is_idle n2 || failed "round $round: n2 is $(state n2)"
    done
    drain_by_us
    machine n2 well
    health n2
    expect "n2 after a fourth drain" "$(state n2)" "drain*"
}

test_the_budget_is_not_exceeded() {
    start_cluster 4
    policy '[policy]
on_fail = "drain"
[drain]
budget_nodes = 1'
    local node
    for node in n1 n2 n3 n4; do machine $node peermem-missing; done
    run srun -N4 --gres=gpu:8 true
    settled() { [ "$(sinfo -h -N -t drain -o %N | wc -l)" = 1 ]; }
    within 6 settled || failed "drained: $(sinfo -h -N -t drain -o '%N %E')"
    sleep 1
    expect "nodes drained" "$(sinfo -h -N -t drain -o %N | wc -l)" 1
    local first told
    first=$(sinfo -h -N -t drain -o %N)
    told=$(scontrol -o show node | grep -c 'Comment=gdr: peermem-missing.*budget')
    expect "nodes that say so" "$told" 3
    # a job on the others: the budget is full, so it runs
    run srun -N3 --exclude="$first" --gres=gpu:8 true
    expect "exit code over budget" "$rc" 0
    expect "nodes drained" "$(sinfo -h -N -t drain -o %N)" "$first"
}

test_reasons_in_twenty_columns() {
    start_cluster 2
    local tree
    tree=$(own_machine n2)
    find "$tree/sys" -path '*/infiniband/*/ports/1/state' -exec sh -c 'echo "1: DOWN" >"$1"' sh {} \;
    policy "$standard_policy
[nics]
compute = [\"mlx5_0\", \"mlx5_1\", \"mlx5_2\", \"mlx5_3\"]"
    job_on_all
    expect_drained n2 "gdr: port-down *"
    expect "20 columns" "$(reason_20 n2)" "gdr: port-down mlx5*"
    [ "$(reason n2 | wc -c)" -le 201 ] || failed "a reason of $(reason n2 | wc -c) bytes"
}

test_slurmctld_away() {
    start_cluster 2
    machine n2 peermem-missing
    "$cluster" controller "$dir" stop
    "$cluster" on "$dir" n2 env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURMD_NODENAME=n2 SLURM_JOB_ID=9999 \
        SLURM_JOB_UID=0 SLURM_JOB_NUM_NODES=2 SLURM_JOB_GPUS=0,1,2,3,4,5,6,7 SLURM_NODELIST="n[1-2]" \
        SLURM_SCRIPT_CONTEXT=prolog_slurmd "$prefix/libexec/gdrcheck/gdrcheck-prolog" >/dev/null
    expect "exit code of the prolog" $? 1
    "$cluster" controller "$dir" start
    answers() { sinfo -h >/dev/null 2>&1; }
    within 10 answers || failed "slurmctld does not come back"
    scontrol update NodeName=n2 State=DRAIN Reason="Prolog error" # as Slurm answers that exit code
    health n2
    expect "reason of n2" "$(reason n2)" "gdr: peermem-missing *"
    machine n2 well
    health n2
    within 5 is_idle n2 || failed "n2 is $(state n2)"
}

test_missing_slurm_program() {
    cp -a "$prefix" "$dir/prefix"
    rm "$dir/prefix/libexec/gdrcheck/gdrcheck-slurm"
    prolog=$dir/prefix/libexec/gdrcheck/gdrcheck-prolog start_cluster 2
    machine n2 peermem-missing
    run srun -N2 --gres=gpu:8 touch started
    [ "$rc" -ne 0 ] || failed "srun succeeded"
    expect "what started" "$(ls "$dir/user")" ""
    expect_drained n2 "Prolog error"
    expect_untouched n1
}
