# shellcheck shell=bash disable=SC2034,SC2154 # tessera.pbs has `home`, and uses these
# Polaris, ALCF: PBS Professional, Cray MPICH by PALS, Slingshot. A node has one EPYC Milan (32 cores) and four A100.
# Never run, module names not checked: see docs.alcf.anl.gov.
#   qsub -A PROJECT -q debug -l select=2:system=polaris -l place=scatter -l filesystems=home:eagle -l walltime=01:00:00 \
#     -v TESSERA_MACHINE=polaris,TESSERA_DECK=my_scan.toml cluster/tessera.pbs
# (tessera.pbs has the time limit once more, in walltime_s: change both.) The same modules to build with. gpu_mpi wants
# MPICH_GPU_SUPPORT_ENABLED=1 and craype-accel-nvidia80, which is there by default.
module load PrgEnv-gnu cray-hdf5-parallel cray-fftw
n_nodes=$(sort -u "$PBS_NODEFILE" | wc -l)
# bind.sh chooses the cores.
TESSERA_LAUNCHER="mpiexec -n $((4 * n_nodes)) --ppn 4 --cpu-bind none $home/cluster/bind.sh"
TESSERA_PROGRAM=${TESSERA_PROGRAM:-$home/build-cuda/bin/tessera}
