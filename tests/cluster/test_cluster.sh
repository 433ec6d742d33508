#!/usr/bin/env bash
# shellcheck disable=SC2016 # programs in single quotes expand their own variables
# test_cluster.sh CLUSTER_FOLDER SCRATCH_FOLDER: bind.sh and tessera.slurm with a nvidia-smi, numactl, taskset, srun and
# sysfs of our own: two sockets, four GPUs, three network cards.
set -euo pipefail

cluster=$1
machine=$2
bash=$(command -v bash)
failed=0

main() {
  make_machine
  for script in bind.sh supervise tessera.slurm tessera.pbs tessera.lsf; do
    expect "$script parses" "" "$("$bash" -n "$cluster/$script" 2>&1)"
  done
  test_local_rank
  test_visible_devices
  test_what_is_missing
  test_environment
  test_slurm
  test_supervise
  exit $failed
}

test_local_rank() {
  local node0="numactl --all --cpunodebind=0 --preferred=0" node1="numactl --all --cpunodebind=1 --preferred=1"
  expect "without a launcher" "$node0 mlx5_0:1 argument one" "$(bound "argument one")"
  expect "Open MPI" "$node1 mlx5_2:1 x" "$(OMPI_COMM_WORLD_LOCAL_RANK=2 bound x)"
  expect "Slurm" "$node1 mlx5_2:1 x" "$(SLURM_LOCALID=3 bound x)"
  expect "Intel MPI" "$node0 mlx5_0:1 x" "$(MPI_LOCALRANKID=1 bound x)"
  expect "MPICH" "$node1 mlx5_2:1 x" "$(PMI_LOCAL_RANK=2 bound x)"
  expect "more ranks than GPUs" "$node1 mlx5_2:1 x" "$(SLURM_LOCALID=6 bound x)"
}

test_visible_devices() {
  local node0="numactl --all --cpunodebind=0 --preferred=0" node1="numactl --all --cpunodebind=1 --preferred=1"
  expect "by index" "$node1 mlx5_2:1 x" "$(CUDA_VISIBLE_DEVICES=3,0 bound x)"
  expect "by index, second" "$node0 mlx5_0:1 x" "$(CUDA_VISIBLE_DEVICES=3,0 SLURM_LOCALID=1 bound x)"
  expect "by UUID" "$node1 mlx5_2:1 x" "$(CUDA_VISIBLE_DEVICES=GPU-cccc bound x)"
  expect "one GPU per task" "$node1 mlx5_2:1 x" "$(CUDA_VISIBLE_DEVICES=2 SLURM_LOCALID=3 bound x)"
  expect "none" "- x" "$(CUDA_VISIBLE_DEVICES='' bound x)"
}

test_what_is_missing() {
  expect "no nvidia-smi" "- x" "$(without nvidia-smi bound x)"
  expect "no numactl" "taskset --cpu-list 32-63 mlx5_2:1 x" "$(SLURM_LOCALID=2 without numactl bound x)"
  expect "neither" "mlx5_2:1 x" "$(SLURM_LOCALID=2 without numactl without taskset bound x)"
  expect "cores that the system forbids" "mlx5_2:1 x" "$(FORBIDDEN=1 SLURM_LOCALID=2 bound x)"
  echo -1 >"$machine/sys/bus/pci/devices/0000:1b:00.0/numa_node"
  expect "one socket" "- x" "$(bound x)"
  echo 0 >"$machine/sys/bus/pci/devices/0000:1b:00.0/numa_node"
  expect "exit code" 7 "$(
    run "$cluster/bind.sh" "$bash" -c 'exit 7' >/dev/null
    echo $?
  )"
  expect "no program" 2 "$(
    run "$cluster/bind.sh" 2>/dev/null
    echo $?
  )"
}

test_environment() {
  expect "UCX_NET_DEVICES that is set stays" "eth0" \
    "$(UCX_NET_DEVICES=eth0 run "$cluster/bind.sh" "$bash" -c 'echo $UCX_NET_DEVICES' | tail -1)"
  expect "GPUs are numbered as nvidia-smi does" "PCI_BUS_ID" \
    "$(run "$cluster/bind.sh" "$bash" -c 'echo $CUDA_DEVICE_ORDER' | tail -1)"
}

test_slurm() {
  local words="$machine/home/build/bin/tessera reconstruct deck.toml a=1 --go-on"
  expect "on processors" "srun --kill-on-bad-exit=1 --cpu-bind=cores $words" "$(slurm deck.toml a=1)"
  expect "on GPUs, a bound task for each" \
    "srun --kill-on-bad-exit=1 --cpu-bind=none $machine/home/cluster/bind.sh ${words/home\/build/home\/build-cuda}" \
    "$(SLURM_GPUS_ON_NODE=4 slurm deck.toml a=1)"
  expect "another launcher" "mpirun --bind-to core $words" "$(TESSERA_LAUNCHER="mpirun --bind-to core" slurm deck.toml a=1)"
  expect "the end of the job and its PMI" "1577836800 pmix" "$(PRINT='$SLURM_JOB_END_TIME $SLURM_MPI_TYPE' slurm deck.toml | tail -1)"
  expect "epochs that are left queue it again" "0 scontrol requeue 17" "$(code_of 75 deck.toml)"
  expect "not what was cancelled" "75 srun" "$(IS_CANCELLED=1 code_of 75 deck.toml)"
  expect "an error stays" "2 srun" "$(code_of 2 deck.toml)"
}

test_supervise() {
  local start="mpirun -np 4 --host a:2,b:2 tessera reconstruct deck.toml --go-on"
  expect "starts again after a rank's death" "137 4" "$(supervise 137 -n 3 mpirun -np 4 tessera reconstruct deck.toml)"
  expect "on the hosts that are left" "$start ${start/-np 4 --host a:2,b:2/-np 2 --host b:2}" \
    "$(LOST=a supervise_lines 1 -n 1 mpirun -np 4 --host a:2,b:2 tessera reconstruct deck.toml)"
  local code
  for code in 0 2 3 75 130; do
    expect "exit code $code is the end" "$code 1" "$(supervise $code mpirun -np 4 tessera reconstruct deck.toml)"
  done
  expect "no launcher" "127 0" "$(supervise 0 no_such_launcher tessera reconstruct deck.toml)"
  expect "no words" "2 0" "$(supervise 0)"
}

# supervise CODE WORD...: exit code, and how often mpirun, which ends with CODE, was started.
supervise() {
  local exit_code=$1 code=0
  shift
  MPIRUN_EXIT_CODE=$exit_code run "$cluster/supervise" "$@" >"$machine/starts" 2>/dev/null || code=$?
  echo "$code $(grep -c ^mpirun "$machine/starts")"
}

# How mpirun was called, each time.
supervise_lines() {
  supervise "$@" >/dev/null
  tr '\n' ' ' <"$machine/starts" | sed 's/ $//'
}

# "numactl ...", UCX_NET_DEVICES and the arguments, as the program that bind.sh starts finds them.
bound() {
  run "$cluster/bind.sh" "$bash" -c 'echo "${UCX_NET_DEVICES:--} $*"' program "$@" | tr '\n' ' ' | sed 's/ $//'
}

slurm() {
  SLURM_JOB_ID=17 SLURM_SUBMIT_DIR=$machine/home run "$cluster/tessera.slurm" "$@" 2>/dev/null
}

# code_of CODE DECK: exit code of a job whose srun ends with CODE, and what it did last.
code_of() {
  local srun_code=$1 code=0 last
  shift
  last=$(SRUN_EXIT_CODE=$srun_code slurm "$@") || code=$?
  last=$(tail -1 <<<"$last")
  echo "$code ${last/srun */srun}"
}

# With nothing of this machine but the fakes.
run() {
  local code=0
  PATH=$machine/bin TESSERA_SYSFS=$machine/sys "$bash" "$@" || code=$?
  return $code
}

without() {
  local tool=$1 code=0
  shift
  mv "$machine/bin/$tool" "$machine/$tool"
  "$@" || code=$?
  mv "$machine/$tool" "$machine/bin/$tool"
  return $code
}

make_machine() {
  rm -rf "$machine"
  mkdir -p "$machine/bin" "$machine/home"
  fake nvidia-smi 'cat <<END
0, GPU-aaaa, 00000000:1B:00.0
1, GPU-bbbb, 00000000:2C:00.0
2, GPU-cccc, 00000000:9D:00.0
3, GPU-dddd, 00000000:AE:00.0
END'
  # Each says how it was called and becomes the program, as the real ones do; `true` is bind.sh trying.
  fake numactl '[[ -z ${FORBIDDEN-} ]] || exit 1
[[ ${*: -1} == true ]] || echo "numactl ${*:1:3}"; exec "${@:4}"'
  fake taskset '[[ -z ${FORBIDDEN-} ]] || exit 1
[[ ${*: -1} == true ]] || echo "taskset ${*:1:2}"; exec "${@:3}"'
  fake srun 'trap "" USR1
if [[ $1 == --mpi=list ]]; then echo "none pmi2 pmix"; exit; fi
echo "srun $*"
[[ -z ${PRINT-} ]] || eval "echo $PRINT"
[[ -z ${IS_CANCELLED-} ]] || kill -TERM $PPID
exit "${SRUN_EXIT_CODE:-0}"'
  fake scontrol 'if [[ $1 == show ]]; then echo "MpiDefault              = none"; else echo "scontrol $*"; fi'
  fake squeue 'echo 2020-01-01T00:00:00Z'
  fake mpirun 'echo "mpirun $*"; exit "${MPIRUN_EXIT_CODE:-0}"'
  fake ssh '[[ " $* " != *" ${LOST-} "* ]]'
  ln -s "$cluster" "$machine/home/cluster"
  local tool
  for tool in bash cat date env hostname sleep timeout true; do ln -s "$(type -P $tool)" "$machine/bin/$tool"; done
  gpu 0000:1b:00.0 0 0-31
  gpu 0000:2c:00.0 0 0-31
  gpu 0000:9d:00.0 1 32-63
  gpu 0000:ae:00.0 1 32-63
  card mlx5_0 0 "4: ACTIVE"
  card mlx5_1 0 "1: DOWN"
  card mlx5_2 1 "4: ACTIVE"
}

fake() {
  printf '#!%s\n%s\n' "$bash" "$2" >"$machine/bin/$1"
  chmod +x "$machine/bin/$1"
}

gpu() {
  mkdir -p "$machine/sys/bus/pci/devices/$1"
  echo "$2" >"$machine/sys/bus/pci/devices/$1/numa_node"
  echo "$3" >"$machine/sys/bus/pci/devices/$1/local_cpulist"
}

card() {
  mkdir -p "$machine/sys/class/infiniband/$1/device" "$machine/sys/class/infiniband/$1/ports/1"
  echo "$2" >"$machine/sys/class/infiniband/$1/device/numa_node"
  echo "$3" >"$machine/sys/class/infiniband/$1/ports/1/state"
}

expect() {
  [[ $2 == "$3" ]] && return
  printf '%s:\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3"
  failed=1
}

# The launcher of this test is not the one of its ranks.
unset OMPI_MCA_plm_rsh_agent OMPI_COMM_WORLD_LOCAL_RANK SLURM_LOCALID MPI_LOCALRANKID PMI_LOCAL_RANK CUDA_VISIBLE_DEVICES UCX_NET_DEVICES \
  CUDA_DEVICE_ORDER
main
