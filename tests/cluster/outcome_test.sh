# What becomes of the job and of the node when one node of the job fails: srun, sbatch, sbatch --no-requeue and salloc,
# with that node first, last and alone. The tasks and the batch script must not have started.

started="touch started.\$SLURM_JOB_ID.\$SLURMD_NODENAME"

# prepare first|last|alone: sets $bad and $nodes (options of the job)
prepare() {
    start_cluster 4
    nodes=(-N2 --gres=gpu:8)
    case $1 in
        first) bad=n1 ;;
        last) bad=n2 ;;
        alone)
            bad=n1
            nodes=(-N1 --gres=gpu:8)
            policy "[scope]
min_nodes = 1
$standard_policy"
            ;;
    esac
    machine $bad peermem-missing
}

nothing_started() {
    local files
    files=$(cd "$dir/user" && ls -d started.* 2>/dev/null)
    expect "what started" "$files" ""
}

the_node_only() {
    expect_drained $bad "gdr: peermem-missing *"
    expect "20 columns of sinfo -R" "$(reason_20 $bad)" "gdr: peermem-missing"
    local node
    for node in n1 n2 n3 n4; do
        [ $node = $bad ] || expect_untouched $node
    done
}

srun_with() {
    prepare "$1"
    run srun "${nodes[@]}" bash -c "$started"
    expect "exit code of srun" "$rc" 1
    expect "what the user reads" "$err" "*gdrcheck: $bad: peermem-missing*"
    nothing_started
    the_node_only
    within 5 job_is 1 CANCELLED || failed "job is $(job_field 1 JobState)"
    no_leftovers
}
test_srun_first() { srun_with first; }
test_srun_last() { srun_with last; }
test_srun_alone() { srun_with alone; }

salloc_with() {
    prepare "$1"
    run salloc "${nodes[@]}" bash -c "$started"
    expect "exit code of salloc" "$rc" 1
    expect "what the user reads" "$err" "*gdrcheck: $bad: peermem-missing*"
    nothing_started
    the_node_only
    within 5 job_is 1 CANCELLED || failed "job is $(job_field 1 JobState)"
    no_leftovers
}
test_salloc_first() { salloc_with first; }
test_salloc_last() { salloc_with last; }
test_salloc_alone() { salloc_with alone; }

is_requeued() { [ "$(job_field "$job" Restarts)" = 1 ] && job_is "$job" PENDING; }

sbatch_with() {
    prepare "$1"
    submit "${nodes[@]}" "#!/bin/bash
$started
srun -l printenv SLURMD_NODENAME"
    within 6 is_requeued || failed "job is $(job_field "$job" JobState), Restarts=$(job_field "$job" Restarts)"
    expect "why it waits" "$(job_field "$job" Reason)" "BeginTime"
    [ "$(job_field "$job" Priority)" != 0 ] || failed "the job is held"
    nothing_started
    the_node_only
    no_leftovers
}
test_sbatch_first() {
    sbatch_with first
    # Slurm lets a requeued job wait for its credential to expire
    within 20 job_is "$job" COMPLETED || failed "not restarted: $(job_field "$job" JobState)"
    expect "nodes of the second try" "$(sort "$dir/user/$job.out" | tr '\n' ' ')" "0: n2 1: n3 "
    expect_drained n1 "gdr: peermem-missing *"
}
test_sbatch_last() { sbatch_with last; }
test_sbatch_alone() { sbatch_with alone; }

sbatch_no_requeue_with() {
    prepare "$1"
    submit --no-requeue "${nodes[@]}" "#!/bin/bash
$started"
    within 6 job_is "$job" CANCELLED || failed "job is $(job_field "$job" JobState)"
    nothing_started
    the_node_only
    no_leftovers
    # a node that was resumed stays so: nothing repeats an old failure
    machine $bad well
    resume $bad
    sleep 1
    expect "$bad a second later" "$(state $bad)" idle
}
test_sbatch_no_requeue_first() { sbatch_no_requeue_with first; }
test_sbatch_no_requeue_last() { sbatch_no_requeue_with last; }
test_sbatch_no_requeue_alone() { sbatch_no_requeue_with alone; }

test_a_failing_node_requeues_three_times_then_holds() {
    prepare last
    policy "[policy]
on_fail = \"drain\"
[drain]
budget_percent = 100
max_requeues = 0"
    submit "${nodes[@]}" "#!/bin/bash
$started"
    within 6 job_is "$job" PENDING || true
    is_held() { [ "$(job_field "$job" Priority)" = 0 ]; }
    within 6 is_held || failed "not held: $(job_field "$job" JobState) $(job_field "$job" Reason)"
    the_node_only
}
