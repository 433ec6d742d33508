# shellcheck shell=bash
# Perlmutter, NERSC: Slurm, Cray MPICH, Slingshot. A GPU node has one EPYC 7763 (64 cores), four A100 and four network
# cards, a node without GPUs two EPYC 7763. Never run, module names not checked: see docs.nersc.gov.
#   TESSERA_MACHINE=perlmutter sbatch -A ACCOUNT -q regular -C gpu --nodes=2 --gpus-per-node=4 --ntasks-per-node=4 \
#     --cpus-per-task=32 cluster/tessera.slurm my_scan.toml
#   TESSERA_MACHINE=perlmutter sbatch -A ACCOUNT -q regular -C cpu --nodes=2 --ntasks-per-node=128 cluster/tessera.slurm my_scan.toml
# The same modules to build with. The transport gpu_mpi wants the program linked with craype-accel-nvidia80 loaded, and
# MPICH_GPU_SUPPORT_ENABLED=1, which other programs must not have; nccl wants neither.
module load PrgEnv-gnu cray-hdf5-parallel cray-fftw
if [[ -n ${SLURM_GPUS_ON_NODE:-} ]]; then module load cudatoolkit craype-accel-nvidia80; fi
