# --gdr-check and --no-gdr-check, wherever a user can give them.

test_report_says_one_line_per_node() {
    start_cluster 2
    run srun -N2 -n4 --gres=gpu:8 --gdr-check true
    expect "exit code" "$rc" 0
    expect "lines" "$(grep -c '^gdrcheck: n[12]: ok' <<<"$err")" 2
    expect "lines in all" "$(wc -l <<<"$err")" 2
    run srun -N2 --gres=gpu:8 --gdr-check=report true
    expect "lines of report" "$(grep -c '^gdrcheck: n[12]: ok' <<<"$err")" 2
    run srun -N2 --gres=gpu:8 --no-gdr-check true
    expect "stderr of --no-gdr-check" "$err" ""
    run srun -N2 --gres=gpu:8 --gdr-check --no-gdr-check true
    expect "stderr, last wins" "$err" ""
}

test_unknown_mode() {
    start_cluster 1
    local command
    for command in srun salloc sbatch; do
        run $command --gdr-check=sometimes "$([ $command = sbatch ] && echo --wrap=true || echo true)"
        [ "$rc" -ne 0 ] || failed "$command took it"
        expect "$command" "$err" '*--gdr-check="sometimes": unknown mode; use --gdr-check=report or --gdr-check=enforce*'
    done
    expect "jobs" "$(squeue -h | wc -l)" 0
}

test_enforce_refuses_the_users_own_step() {
    start_cluster 2
    policy '[policy]
on_fail = "report"'
    machine n2 peermem-missing
    run srun -N2 -n4 -K0 --gres=gpu:8 --gdr-check=enforce sh -c 'touch started.$SLURMD_NODENAME'
    [ "$rc" -ne 0 ] || failed "srun succeeded"
    expect "what started" "$(cd "$dir/user" && echo started.*)" "started.n1"
    expect "what the user reads" "$err" "*gdrcheck: n2: fail*gdrcheck: n2: tasks not started, --gdr-check=enforce*"
    expect "refusals" "$(grep -c 'tasks not started' <<<"$err")" 1
    expect_untouched n1 n2
    run srun -N2 --gres=gpu:8 --gdr-check=report true
    expect "exit code of report" "$rc" 0
    run srun -N2 --gres=gpu:8 true
    expect "exit code without it" "$rc" 0
    no_leftovers
}

test_enforce_within_a_batch_script() {
    start_cluster 2
    policy '[policy]
on_fail = "report"'
    machine n2 peermem-missing
    submit -N2 --gres=gpu:8 '#!/bin/bash
#SBATCH --gdr-check=enforce
echo batch
srun -K0 -n2 printenv SLURMD_NODENAME
srun -K0 -n2 --no-gdr-check printenv SLURMD_NODENAME'
    within 10 job_ended "$job" || failed "job is $(job_field "$job" JobState)"
    expect "stdout" "$(tr '\n' ' ' <"$dir/user/$job.out")" "batch n1 n[12] n[12] "
    expect "stderr" "$(<"$dir/user/$job.err")" "*gdrcheck: n2: tasks not started, --gdr-check=enforce*"
    expect_untouched n1 n2
}

test_a_step_long_after_the_prolog() {
    start_cluster 2
    run salloc -N2 --gres=gpu:8 bash -c "
        ln -sfn $work/machines/peermem-missing $dir/trees/n2
        srun -n2 true
        srun -n2 --gdr-check true
        echo rc \$?
        exit 0"
    expect "with a file of the prolog still fresh" "$err" "*gdrcheck: n2: ok*"
    machine n2 well
    touch "$dir/user/go"
    as_user salloc -N2 --gres=gpu:8 bash -c 'touch here; while [ -e go ]; do sleep 0.05; done
        srun -n2 --gdr-check true 2>first; srun -n2 --gdr-check=enforce touch started 2>second; echo $? >code' \
        >/dev/null 2>&1 &
    local salloc=$! node
    within 5 test -e "$dir/user/here" || failed "no allocation"
    machine n2 peermem-missing
    for node in n1 n2; do
        sed -i 's/"written": *[0-9]*/"written":1700000000/' "$dir/nodes/$node/run/gdrcheck/"job-*.json
    done
    rm "$dir/user/go"
    wait $salloc
    expect "the first step" "$(sort "$dir/user/first" | tr '\n' ' ')" "gdrcheck: n1: ok* gdrcheck: n2: fail*"
    expect "the second step" "$(<"$dir/user/second")" "*gdrcheck: n2: tasks not started*"
    [ "$(<"$dir/user/code")" != 0 ] || failed "the second step succeeded"
    expect_untouched n1 n2
    no_leftovers
}

test_a_step_of_a_job_out_of_scope() {
    start_cluster 1
    run srun -N1 --gres=gpu:8 --gdr-check true
    expect "line" "$err" "gdrcheck: n1: ok*"
    machine n1 peermem-missing
    run srun -N1 --gres=gpu:8 --gdr-check true
    expect "line" "$err" "*gdrcheck: n1: fail*"
    expect "exit code of report" "$rc" 0
    run srun -N1 --gres=gpu:8 --gdr-check=enforce touch started
    [ "$rc" -ne 0 ] || failed "enforce let it run"
    expect "files" "$(ls "$dir/user")" ""
    expect_untouched n1
}

test_opting_out_is_the_sites_to_allow() {
    start_cluster 2
    machine n2 peermem-missing
    run srun -N2 --gres=gpu:8 --no-gdr-check true
    [ "$rc" -ne 0 ] || failed "a user's option kept the node from being drained"
    expect_drained n2 "gdr: peermem-missing *"
    resume n2
    policy '[policy]
on_fail = "drain"
allow_opt_out = true'
    run srun -N2 --gres=gpu:8 --no-gdr-check true
    expect "exit code where it is allowed" "$rc" 0
    expect_untouched n1 n2
}

test_job_array() {
    start_cluster 4
    submit -N2 --gres=gpu:8 --array=1-4 --gdr-check '#!/bin/bash
srun -n2 --gdr-check printenv GDRCHECK_NIC >/dev/null
echo done $SLURM_ARRAY_TASK_ID'
    all_done() { [ "$(cat "$dir"/user/*.out 2>/dev/null | grep -c done)" = 4 ]; }
    within 20 all_done || failed "$(squeue)"
    expect "lines per task of the array and node" \
        "$(cat "$dir"/user/*.err | grep -c '^gdrcheck: n[1-4]: ok')" "1[0-9]"
    expect_untouched n1 n2 n3 n4
}

test_heterogeneous_job() {
    start_cluster 4
    run srun -N2 --gres=gpu:8 --gdr-check true : -N1 --gres=gpu:4 --gdr-check true
    expect "exit code" "$rc" 0
    expect "lines" "$(grep -c '^gdrcheck: n[1-4]: ok' <<<"$err")" 3
    within 10 none_completing || failed "$(squeue -h)" # its epilog would find the next line's machine
    machine n1 peermem-missing
    run srun -N2 -w n1,n2 --gres=gpu:8 touch started : -N1 -w n3 --gres=gpu:4 touch started
    [ "$rc" -ne 0 ] || failed "the job ran: $err"
    expect "files" "$(ls "$dir/user")" ""
    expect_drained n1 "gdr: peermem-missing *"
    expect_untouched n2 n3 n4
}
