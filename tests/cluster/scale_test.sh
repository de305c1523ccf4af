# 64 nodes that fail in the same second.

rpcs() { # RPCs that slurmctld has answered, without those of this script
    sdiag | awk '/^\t[A-Z_]+ .*count:/ {sub(".*count:", ""); sum += $1} END {print sum + 0}'
}

test_the_budget_at_scale() {
    start_cluster 64
    policy '[policy]
on_fail = "drain"
[drain]
budget_percent = 10'
    local node before healthy failing
    before=$(rpcs)
    run srun -N64 --gres=gpu:8 true
    expect "exit code of a healthy job" "$rc" 0
    healthy=$(($(rpcs) - before))
    for node in $(seq 64); do machine "n$node" peermem-missing; done
    before=$(rpcs)
    run srun -N64 --gres=gpu:8 true
    settled() { [ "$(ours)" = 7 ] && [ "$(told)" = 57 ]; }
    ours() { sinfo -h -N -t drain -o %E | grep -c '^gdr: peermem-missing'; }
    told() { scontrol -o show node | grep -c 'Comment=gdr: peermem-missing.*budget'; }
    within 20 settled || failed "drained $(ours), told $(told)"
    sleep 1
    expect "drained once settled" "$(ours)" 7
    expect "others that say so" "$(told)" 57
    failing=$(($(rpcs) - before))
    note "RPCs: $healthy for a healthy job of 64 nodes, $failing when all fail"
    no_leftovers
}
