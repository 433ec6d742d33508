# shellcheck shell=bash
# LUMI-C, CSC: Slurm, Cray MPICH, Slingshot. A node has two EPYC Milan, 128 cores in all. (LUMI-G has GPUs of AMD, which Tessera
# does not know.) Never run, module names not checked: see docs.lumi-supercomputer.eu.
#   TESSERA_MACHINE=lumi sbatch -A project_ID -p standard --nodes=2 --ntasks-per-node=128 --mem=0 cluster/tessera.slurm my_scan.toml
# The same modules to build with.
module load LUMI partition/C PrgEnv-gnu cray-hdf5-parallel cray-fftw
