# 64 nodes that fail in the same second.

rpcs() { # that slurmctld has answered, of the kinds that only our programs send during these tests
    sdiag | awk '/REQUEST_(NODE_INFO_SINGLE|UPDATE_NODE|KILL_JOB|JOB_NOTIFY|JOB_INFO_SINGLE)/ {
        sub(".*count:", ""); sum += $1 } END {print sum + 0}'
}

test_the_budget_at_scale() {
    start_cluster 64
    policy '[policy]
on_fail = "drain"
[drain]
budget_percent = 10'
    local node before failing
    before=$(rpcs)
    run srun -N64 --gres=gpu:8 true
    expect "exit code of a healthy job" "$rc" 0
    within 20 none_completing || failed "$(squeue -h)" # their epilogs look again
    expect "RPCs for a healthy job" "$(($(rpcs) - before))" 0
    for node in $(seq 64); do machine "n$node" peermem-missing; done
    before=$(rpcs)
    run srun -N64 --gres=gpu:8 touch started
    expect "files" "$(ls "$dir/user")" ""
    settled() { [ "$(ours)" = 7 ] && [ "$(told)" = 57 ]; }
    ours() { sinfo -h -N -t drain -o %E | grep -c '^gdr: peermem-missing'; }
    told() { scontrol -o show node | grep -c 'Comment=gdr: peermem-missing.*budget'; }
    within 20 settled || failed "drained $(ours), told $(told)"
    sleep 1
    expect "drained once settled" "$(ours)" 7
    expect "others that say so" "$(told)" 57
    failing=$(($(rpcs) - before))
    # read, drain, look at the job, tell, end it, or read, comment, tell; and a race settled
    [ "$failing" -ge 64 ] && [ "$failing" -le $((64 * 8)) ] || failed "$failing RPCs for 64 failing nodes"
    note "RPCs: none for a healthy job of 64 nodes, $failing when all fail"
    no_leftovers
}
