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
  for script in bind.sh tessera.slurm; do expect "$script parses" "" "$("$bash" -n "$cluster/$script" 2>&1)"; done
  test_local_rank
  test_visible_devices
  test_what_is_missing
  test_environment
  test_slurm
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
  local words="--cpu-bind=none $machine/home/cluster/bind.sh $machine/home/build-cuda/bin/tessera reconstruct deck.toml a=1"
  expect "srun starts a bound task per GPU" "srun $words" "$(slurm deck.toml a=1)"
  local stopped
  stopped=$(SRUN_EXIT_CODE=130 slurm deck.toml a=1) && failed=1
  expect "a stopped job says how to go on" "  sbatch cluster/tessera.slurm deck.toml a=1 run.resume=RESULT" \
    "$(tail -1 <<<"$stopped")"
  expect "its exit code stays" 130 "$(
    SRUN_EXIT_CODE=130 slurm deck.toml >/dev/null
    echo $?
  )"
}

# "numactl ...", UCX_NET_DEVICES and the arguments, as the program that bind.sh starts finds them.
bound() {
  run "$cluster/bind.sh" "$bash" -c 'echo "${UCX_NET_DEVICES:--} $*"' program "$@" | tr '\n' ' ' | sed 's/ $//'
}

slurm() {
  SLURM_SUBMIT_DIR=$machine/home run "$cluster/tessera.slurm" "$@"
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
  fake srun 'echo "srun $*"; exit "${SRUN_EXIT_CODE:-0}"'
  local tool
  for tool in bash cat true; do ln -s "$(type -P $tool)" "$machine/bin/$tool"; done
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
unset OMPI_COMM_WORLD_LOCAL_RANK SLURM_LOCALID MPI_LOCALRANKID PMI_LOCAL_RANK CUDA_VISIBLE_DEVICES UCX_NET_DEVICES \
  CUDA_DEVICE_ORDER
main
