# What tasks find in their environment. dgx_h100: GPU i sits beside NIC i in four of its switches.

show='echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES $GDRCHECK_GPU $GDRCHECK_NIC $GDRCHECK_PATH $GDRCHECK_GDR'

# What the prolog said of each GPU of n1, by minor: gpu_of and nic_of
keep_record() {
    local minor gpu nic
    run salloc -N2 --gres=gpu:8 cp "$dir/nodes/n1/run/gdrcheck/job-1.json" "$dir/user/record.json"
    gpu_of=() nic_of=()
    while read -r minor gpu nic; do
        gpu_of[minor]=$gpu
        nic_of[minor]=$nic
    done < <(python3 -c '
import json, sys
for gpu in json.load(open(sys.argv[1]))["gpus"]:
    print(gpu["minor"], gpu["variables"]["GDRCHECK_GPU"], gpu["variables"]["GDRCHECK_NIC"])' "$dir/user/record.json")
    expect "GPUs that the prolog knows" "${#gpu_of[@]}" 8
}

# expect_tasks MINORS…: one word per task of the last run, in order, such as 3,1
expect_tasks() {
    local task=0 minors minor gpus nics line
    for minors in "$@"; do
        gpus="" nics=""
        for minor in ${minors//,/ }; do
            gpus+=${gpus:+,}${gpu_of[minor]}
            nics+=${nics:+,}${nic_of[minor]}
        done
        line=$(grep "^$task " <<<"$out")
        expect "task $task, GPU $minors" "$line" "$task * $gpus $nics PIX* dmabuf*"
        task=$((task + 1))
    done
}

test_variables_of_the_gpus_of_each_task() {
    start_cluster 2
    keep_record
    run srun -N1 -w n1 -n1 --gres=gpu:8 sh -c "$show"
    expect "a job of one node is out of scope" "$out" "0 0,1,2,3,4,5,6,7"
    policy "$standard_policy
[env]
export = \"always\"
[scope]
min_nodes = 1"
    run srun -N1 -w n1 -n1 --gres=gpu:8 sh -c "$show"
    expect_tasks 0,1,2,3,4,5,6,7
    run srun -N1 -w n1 -n8 --gres=gpu:8 --gpus-per-task=1 sh -c "$show"
    expect_tasks 0 1 2 3 4 5 6 7
    run srun -N1 -w n1 -n2 --gres=gpu:8 --gpus-per-task=4 sh -c "$show"
    expect_tasks 0,1,2,3 4,5,6,7
    run srun -N1 -w n1 -n4 --gres=gpu:8 --gpu-bind=map_gpu:3,1,0,7 sh -c "$show"
    expect_tasks 3 1 0 7
    run srun -N1 -w n1 -n2 --gres=gpu:2 sh -c "$show"
    expect_tasks 0,1 0,1
    run srun -N1 -w n1 -n2 --gres=gpu:8 sh -c "CUDA_VISIBLE_DEVICES=0; $show" # set in the task: too late to matter
    expect "the variables of all" "$out" "*${gpu_of[0]},${gpu_of[1]}*"
}

test_variables_in_a_batch_script_and_its_steps() {
    start_cluster 2
    keep_record
    submit -N2 -w n1,n2 --ntasks-per-node=2 --gres=gpu:8 "#!/bin/bash
$show >>batch
srun -N1 -w n1 -n2 --gres=gpu:8 --gpu-bind=map_gpu:5,2 sh -c '$show' >>step"
    within 10 job_ended "$job" || failed "job is $(job_field "$job" JobState)"
    out=$(sed 's/^/0 /; s/^0 0 /0 /' "$dir/user/batch")
    expect_tasks 0,1,2,3,4,5,6,7
    out=$(<"$dir/user/step")
    expect_tasks 5 2
}

excluding='[nics]
exclude = ["mlx5_0"]'

test_settings_of_the_user_stay() {
    start_cluster 2
    policy "$standard_policy
$excluding"
    run srun -N2 --gres=gpu:8 printenv NCCL_IB_HCA
    expect "what is exported" "$(sort -u <<<"$out")" "^=mlx5_0"
    user_environment=(NCCL_IB_HCA=mlx5_3)
    run srun -N2 --gres=gpu:8 printenv NCCL_IB_HCA
    expect "what the user set" "$(sort -u <<<"$out")" "mlx5_3"
    user_environment=(NCCL_IB_HCA=)
    run srun -N2 --gres=gpu:8 sh -c 'echo "[$NCCL_IB_HCA]"'
    expect "what the user set to nothing" "$(sort -u <<<"$out")" "[[]]"
    user_environment=()
    echo "NCCL_IB_HCA=mlx5_2" >"$dir/user/.nccl.conf"
    run srun -N2 --gres=gpu:8 sh -c 'echo "[$NCCL_IB_HCA]"'
    expect "with ~/.nccl.conf" "$(sort -u <<<"$out")" "[[]]"
    rm "$dir/user/.nccl.conf"
    mkfifo "$dir/user/.nccl.conf"
    run srun -N2 --gres=gpu:8 sh -c 'echo "[$NCCL_IB_HCA]"'
    expect "with a FIFO as ~/.nccl.conf" "$(sort -u <<<"$out")" "[[]]"
    rm "$dir/user/.nccl.conf"
    echo "NCCL_IB_HCA=mlx5_2" >"$dir/user/mine.conf"
    user_environment=(NCCL_CONF_FILE="$dir/user/mine.conf")
    run srun -N2 --gres=gpu:8 sh -c 'echo "[$NCCL_IB_HCA]"'
    expect "with NCCL_CONF_FILE" "$(sort -u <<<"$out")" "[[]]"
    user_environment=()
    run srun -N2 --gres=gpu:8 --no-gdr-check sh -c 'echo "[$NCCL_IB_HCA]"'
    expect "with --no-gdr-check" "$(sort -u <<<"$out")" "[[]]"
}

test_export_off_and_on_request() {
    start_cluster 2
    policy "$standard_policy
$excluding
[env]
export = \"off\""
    run srun -N2 --gres=gpu:8 --gdr-check sh -c 'echo "[$NCCL_IB_HCA$GDRCHECK_GPU]"'
    expect "off" "$(sort -u <<<"$out")" "[[]]"
    policy "$standard_policy
$excluding
[env]
export = \"option\""
    run srun -N2 --gres=gpu:8 sh -c 'echo "[$NCCL_IB_HCA]"'
    expect "option, not given" "$(sort -u <<<"$out")" "[[]]"
    run srun -N2 --gres=gpu:8 --gdr-check printenv NCCL_IB_HCA
    expect "option, given" "$(sort -u <<<"$out")" "^=mlx5_0"
}

# Device cgroups renumber what a task sees; the kernel knows which devices it may open.
test_device_cgroups() {
    grep -qs '^devices\s' /proc/cgroups || {
        note "no device cgroup in this kernel"
        return
    }
    extra_conf="ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup"
    export CLUSTER_CGROUP="ConstrainDevices=yes"
    start_cluster 2 || return
    unset CLUSTER_CGROUP
    keep_record
    policy "$standard_policy
[env]
export = \"always\"
[scope]
min_nodes = 1"
    run srun -N1 -w n1 -n4 --gres=gpu:4 --gpus-per-task=1 sh -c "$show"
    expect "what tasks see" "$(awk '{print $2}' <<<"$out" | sort -u)" "0"
    expect_tasks 0 1 2 3
    run srun -N1 -w n1 -n2 --gres=gpu:8 --gpu-bind=map_gpu:6,1 sh -c "$show"
    expect_tasks 6 1
}
