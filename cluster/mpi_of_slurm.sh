# shellcheck shell=bash
# For job scripts to source. Where the machine has no default for --mpi, srun would start as many runs of one rank each.
if [[ -z ${SLURM_MPI_TYPE:-} ]] && [[ $(scontrol show config) =~ MpiDefault\ *=\ none ]]; then
  export SLURM_MPI_TYPE=pmi2
  if [[ $(srun --mpi=list 2>&1) == *pmix* ]]; then SLURM_MPI_TYPE=pmix; fi
fi
