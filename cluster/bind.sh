#!/usr/bin/env bash
# bind.sh PROGRAM [ARGUMENT...]
# Runs PROGRAM on the cores, the memory and the network cards next to this rank's GPU. Start it once per rank:
#   mpirun -np 4 --bind-to none cluster/bind.sh tessera reconstruct my_scan.toml
# The GPU is the one that Tessera takes: rank r of a host that sees n GPUs has number r modulo n.
# Whatever it cannot find out, it leaves as it is.
set -euo pipefail

sysfs=${TESSERA_SYSFS:-/sys} # tests have a machine of their own

main() {
  if [[ $# == 0 ]]; then
    echo "usage: bind.sh PROGRAM [ARGUMENT...]" >&2
    exit 2
  fi
  local device='' node=''
  device=$(gpu_device)
  node=$(content "$device/numa_node")
  # As nvidia-smi numbers them, not the fastest first.
  [[ -z $device ]] || export CUDA_DEVICE_ORDER=${CUDA_DEVICE_ORDER:-PCI_BUS_ID}
  [[ $node =~ ^[0-9]+$ ]] || exec "$@"
  local cards
  cards=$(network_cards "$node")
  [[ -z $cards ]] || export UCX_NET_DEVICES=${UCX_NET_DEVICES:-$cards}
  run_on_node "$node" "$(content "$device/local_cpulist")" "$@"
}

# --all: also cores and memory that the launcher did not give, unless the system forbids it. Tried first, for it may.
run_on_node() {
  local node=$1 cores=$2
  shift 2
  local numactl=(numactl --all --cpunodebind="$node" --preferred="$node")
  if "${numactl[@]}" true 2>/dev/null; then exec "${numactl[@]}" "$@"; fi
  if [[ -n $cores ]] && taskset --cpu-list "$cores" true 2>/dev/null; then exec taskset --cpu-list "$cores" "$@"; fi
  exec "$@"
}

# Folder in sysfs of this rank's GPU; nothing without one.
gpu_device() {
  local gpus=() visible=()
  mapfile -t gpus < <(nvidia-smi --query-gpu=index,uuid,pci.bus_id --format=csv,noheader 2>/dev/null || true)
  mapfile -t visible < <(visible_gpus "${gpus[@]}")
  [[ ${#visible[@]} -gt 0 ]] || return 0
  local bus=${visible[$(($(local_rank) % ${#visible[@]}))]}
  bus=${bus,,}
  # nvidia-smi has 8 digits for the domain, sysfs 4.
  [[ $bus =~ ^0000([0-9a-f]{4}:.*)$ ]] && bus=${BASH_REMATCH[1]}
  printf '%s' "$sysfs/bus/pci/devices/$bus"
}

# Bus ids of those GPUs ("index, uuid, bus id") that CUDA_VISIBLE_DEVICES names by index or UUID, in its order.
visible_gpus() {
  local index uuid bus wanted gpu names=()
  if [[ -z ${CUDA_VISIBLE_DEVICES+set} ]]; then
    for gpu in "$@"; do printf '%s\n' "${gpu##*, }"; done
    return
  fi
  IFS=, read -r -a names <<<"$CUDA_VISIBLE_DEVICES"
  for wanted in "${names[@]}"; do
    for gpu in "$@"; do
      IFS=', ' read -r index uuid bus <<<"$gpu"
      if [[ $wanted == "$index" || ($wanted == GPU-* && $uuid == "$wanted"*) ]]; then printf '%s\n' "$bus"; fi
    done
  done
}

local_rank() {
  printf '%s' "${OMPI_COMM_WORLD_LOCAL_RANK:-${SLURM_LOCALID:-${MPI_LOCALRANKID:-${PMI_LOCAL_RANK:-0}}}}"
}

# Those with a link, at this NUMA node: "mlx5_0:1,mlx5_1:1", as UCX wants them.
network_cards() {
  local card all=()
  for card in "$sysfs"/class/infiniband/*; do
    [[ $(content "$card/device/numa_node") == "$1" ]] || continue
    [[ $(content "$card/ports/1/state") == *ACTIVE* ]] || continue
    all+=("${card##*/}:1")
  done
  local IFS=,
  printf '%s' "${all[*]}"
}

# First line of a file; nothing if there is none.
content() {
  local line=''
  [[ ! -r $1 ]] || read -r line <"$1" || true
  printf '%s' "$line"
}

main "$@"
