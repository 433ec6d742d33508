# shellcheck shell=bash disable=SC2034 # who sources this uses it
# A machine without a scheduler, with Debian's or Ubuntu's packages: one rank for each GPU, or for each core. Run (on processors).
#   source cluster/machines/workstation.sh
#   cluster/supervise $TESSERA_LAUNCHER $TESSERA_PROGRAM reconstruct my_scan.toml
n_gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep --count ^GPU || true)
if [[ $n_gpus -gt 0 ]]; then
  TESSERA_LAUNCHER="mpirun -np $n_gpus --bind-to none cluster/bind.sh"
  TESSERA_PROGRAM=build-cuda/bin/tessera
else
  TESSERA_LAUNCHER="mpirun -np $(nproc) --bind-to core"
  TESSERA_PROGRAM=build/bin/tessera
fi
