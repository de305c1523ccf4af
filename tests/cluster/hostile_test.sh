# What a user, a full disk or a broken machine can do to the programs.

test_hostile_environment() {
    start_cluster 2
    local huge
    huge=$(head -c 100000 /dev/zero | tr '\0' x)
    user_environment=(NCCL_IB_HCA="$huge" GDRCHECK_EXPORTED="LD_PRELOAD=/x;;=" LD_PRELOAD=
        SLURMD_NODENAME='../../etc' SLURM_JOB_GPUS='$(touch /tmp/owned),%n' CUDA_VISIBLE_DEVICES=$'0\n1;\xff'
        SPANK_GDRCHECK_MODE='enforce;reboot' SLURM_SPANK_GDRCHECK_MODE=$'off\n'
        GDRCHECK_CONFIG=/etc/shadow GDRCHECK_RUN_DIRECTORY=/tmp)
    run srun -N2 --gres=gpu:8 -J $'a%n$(reboot)\xff' sh -c 'echo ${#NCCL_IB_HCA}'
    expect "exit code ($err)" "$rc" 0
    expect "the user's own value" "$(sort -u <<<"$out")" "100000"
    machine n2 peermem-missing
    run srun -N2 --gres=gpu:8 -J $'a%n$(reboot)\xff\nb' touch started
    [ "$rc" -ne 0 ] || failed "it ran"
    expect_drained n2 "gdr: peermem-missing nvidia_peermem*"
    expect "files" "$(ls "$dir/user")" ""
    ! grep -q 'reboot' <<<"$(reason n2)$(comment n2)" || failed "the user's text is in the reason"
}

by_policy() { # the job ran and n2 is as before
    expect "exit code" "$rc" 0
    expect_untouched n1 n2
    no_leftovers
}

test_a_fifo_in_the_tree() {
    start_cluster 2
    local tree file
    tree=$(own_machine n2)
    while read -r file; do
        rm "$file" && mkfifo "$file"
    done < <(find "$tree/sys" -path '*/infiniband/mlx5_0/ports/1/state' -o -path '*/net/*/flags' -o -name numa_node | head -n 40)
    run srun -N2 --gres=gpu:8 true
    by_policy
}

test_looping_links_and_garbage() {
    start_cluster 2
    local tree file
    tree=$(own_machine n2)
    ln -sfn loop "$tree/sys/loop"
    while read -r file; do
        rm "$file" && ln -s "$(basename "$file")" "$file"
    done < <(find "$tree/sys" -name numa_node -type f | head -n 20)
    find "$tree/sys" -type f \( -name 'max_link_*' -o -name 'rate' -o -name 'local_cpulist' \) |
        while read -r file; do head -c 5000 /dev/urandom >"$file"; done
    run srun -N2 --gres=gpu:8 true
    by_policy
}

test_no_machine_to_look_at() {
    start_cluster 2
    rm "$dir/trees/n2"
    run srun -N2 --gres=gpu:8 --gdr-check true
    expect "line of n2" "$err" "*gdrcheck: n2: *"
    by_policy
}

test_unwritable_run_directory() {
    start_cluster 2
    echo in the way >"$dir/nodes/n2/run/gdrcheck"
    run srun -N2 --gres=gpu:8 --gdr-check true
    expect "exit code" "$rc" 0
    expect "line of n1" "$err" "*gdrcheck: n1: ok*"
    expect "line of n2" "$err" "*gdrcheck: n2: unknown: *"
    by_policy
}

test_unwritable_state_directory() {
    start_cluster 2
    echo in the way >"$dir/nodes/n2/lib/gdrcheck"
    machine n2 peermem-missing
    run srun -N2 --gres=gpu:8 touch started
    expect "files" "$(ls "$dir/user")" ""
    expect_drained n2 "gdr: peermem-missing *"
}

test_full_disk() {
    start_cluster 2
    local place
    for place in run lib; do
        "$cluster" on "$dir" n2 sh -c "mount -t tmpfs -o size=4k,mode=755 tmpfs /${place/lib/var\/lib} &&
            mkdir /${place/lib/var\/lib}/gdrcheck; cat /dev/zero >/${place/lib/var\/lib}/fill 2>/dev/null"
    done
    run srun -N2 --gres=gpu:8 true
    by_policy
    machine n2 peermem-missing
    run srun -N2 --gres=gpu:8 touch started
    expect "files" "$(ls "$dir/user")" ""
    expect_drained n2 "gdr: peermem-missing *"
}

test_garbage_where_we_keep_things() {
    start_cluster 2
    mkdir -m 755 "$dir"/nodes/n2/{run,lib}/gdrcheck
    head -c 100000 /dev/urandom >"$dir/nodes/n2/lib/gdrcheck/drained"
    head -c 100000 /dev/urandom >"$dir/nodes/n2/run/gdrcheck/job-1.json"
    run srun -N2 --gres=gpu:8 --gdr-check true
    expect "lines" "$(grep -c '^gdrcheck: n[12]: ok' <<<"$err")" 2
    by_policy
    health n2
    expect_untouched n2
    drain_by_us
}

# A job file that the prolog did not write: nothing of it is believed.
test_a_job_file_by_the_user() {
    start_cluster 2
    run salloc -N2 --gres=gpu:8 bash -c 'echo x > /run/gdrcheck/job-$SLURM_JOB_ID.json; srun -n2 sh -c "echo x > /run/gdrcheck/job-\$SLURM_JOB_ID.json"; true'
    expect "stdout" "$out" ""
    by_policy
}

# Killed while it works: whatever is left, the job is treated by policy and the next one finds a node that works.
test_killed_programs() {
    start_cluster 2
    machine n2 peermem-missing
    local victim
    for victim in gdrcheck-slurm gdrcheck-prolog; do
        (for _ in $(seq 300); do
            victims=$(pgrep -f "^$prefix/libexec/gdrcheck/$victim") && kill -KILL $victims && break
            sleep 0.01
        done) &
        local killer=$!
        run srun -N2 --gres=gpu:8 sh -c 'touch started.$SLURMD_NODENAME'
        wait $killer
        [ "$rc" -ne 0 ] || failed "$victim killed: the job ran"
        # a prolog that dies tells nobody but its slurmd; what Slurm then lets other nodes start is its own affair
        [ ! -e "$dir/user/started.n2" ] || failed "$victim killed: a task started on n2"
        no_leftovers
        resume n1 n2
    done
}
