# shellcheck shell=bash
# JUWELS Booster, JSC: Slurm (by ParaStation's psslurm), InfiniBand HDR200. A node has two EPYC 7402 (24 cores each), four
# A100 and four network cards. Never run and not checked: see apps.fz-juelich.de/jsc/hps/juwels.
#   TESSERA_MACHINE=juwels_booster sbatch -A PROJECT -p booster --nodes=2 --gres=gpu:4 --ntasks-per-node=4 --cpus-per-task=12 \
#     cluster/tessera.slurm my_scan.toml
# The same modules to build with; `module spider HDF5` says which of a stage go together.
module load GCC OpenMPI CUDA HDF5 FFTW
