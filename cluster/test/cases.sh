# shellcheck shell=bash disable=SC2016,SC2086,SC2154 # `eval` expands; home and work are set by `inside`, which sources this
# What a job must do under Slurm. Each case has a folder, a scan and a deck of its own, and is compared with the run that
# nothing has disturbed: the same bits, for the ranks are as many.

cases=(processors gpus mpirun requeue node_loss time_limit signal_to_mpirun cancelled array one_output supervised_rank
  supervised_node supervised_mpirun supervised_hosts study study_alone hosts_64)

run_cases() {
  local name failed=()
  if [[ $# == 0 ]]; then set -- "${cases[@]}"; fi
  # There are more ranks than cores.
  export OMPI_MCA_mpi_yield_when_idle=1
  export TESSERA_HOME=$home TESSERA_PROGRAM=$home/build/bin/tessera
  mkdir "$work/straight"
  cp "$home/cluster/test/deck.toml" "$work/straight"
  cd "$work/straight"
  "$TESSERA_PROGRAM" simulate deck.toml 2>/dev/null >/dev/null
  mpirun --oversubscribe --bind-to none -np 2 "$TESSERA_PROGRAM" reconstruct deck.toml >straight.log
  for name in "$@"; do
    mkdir "$work/$name"
    cp deck.toml scan.h5 "$work/$name"
    local begun=$SECONDS
    # Not in a condition, which would switch off the end at the first error.
    set +e
    (
      set -euo pipefail
      cd "$work/$name"
      "case_$name"
    ) >"$work/$name/case.log" 2>&1
    local code=$?
    set -e
    if [[ $code == 0 ]]; then
      echo "ok     $name ($((SECONDS - begun)) s)"
    else
      failed+=("$name")
      echo "FAILED $name ($((SECONDS - begun)) s)"
      tail -n 5 "$work/$name"/*.log | sed 's/^/    /'
      scancel --user=root
      regain_nodes
    fi
  done
  [[ ${#failed[@]} == 0 ]]
}

case_processors() {
  submit --nodes=2 --ntasks=2
  is_completed
  is_straight
  has_line tessera-$job.log '2 tiles'
}

case_gpus() {
  submit --partition=gpu --nodes=2 --gpus-per-node=2 --ntasks-per-node=1
  is_completed
  is_straight
}

case_mpirun() {
  TESSERA_LAUNCHER="mpirun --oversubscribe" submit --nodes=2 --ntasks=2
  is_completed
  is_straight
}

case_requeue() {
  submit --nodes=2 --ntasks=2
  epochs_are_made 30
  scontrol requeue "$job"
  is_completed
  is_straight
  has_line tessera-$job.log 'the run goes on from there'
  has_line tessera-$job.log 'epoch    1/300' # the log of the first start is still there
}

case_node_loss() {
  submit --partition=all --nodes=2 --ntasks=2
  epochs_are_made 30
  lose_node n2
  is_completed
  is_straight
  has_line tessera-$job.log 'the run goes on from there'
  regain_nodes
}

# A job that waits for this one's success waits until all epochs are made.
case_time_limit() {
  submit --ntasks=2 --time=1 --signal=B:CONT@1 solver.epochs=1000000
  local first=$job after
  after=$(sbatch --parsable --dependency=afterok:"$job" --output=after.log --chdir="$PWD" --wrap true)
  epochs_are_made 2
  wait_for 70 "the planned stop" eval '[[ $(state) == PENDING ]]'
  has_line tessera-$job.log "stopped: time (the job's, SLURM_JOB_END_TIME"
  [[ $(job=$after state) == PENDING ]]
  # The rest is short.
  local made
  made=$(epochs_of result.h5)
  wait_for 20 "the job to go on" eval '[[ $(state) == RUNNING ]]'
  has_line tessera-$first.log "has $made epochs; the run goes on from there" 30
  touch result.h5.stop
  is_completed
  wait_for 30 "the job after it" eval '[[ $(job=$after state) == COMPLETED ]]'
}

case_signal_to_mpirun() {
  TESSERA_LAUNCHER="mpirun --oversubscribe" submit --nodes=2 --ntasks=2
  epochs_are_made 30
  scancel --batch --signal=USR1 "$job" # as --signal=B:USR1 does
  wait_for 30 "the planned stop" eval '[[ $(state) == PENDING ]]'
  has_line tessera-$job.log 'stopped by a signal'
  is_completed
  is_straight
}

case_cancelled() {
  submit --nodes=2 --ntasks=2 solver.epochs=1000000
  epochs_are_made 30
  scancel "$job"
  wait_for 30 "the job to end" eval '[[ $(state) == CANCELLED ]]'
  has_line tessera-$job.log 'stopped by a signal' 10
  "$TESSERA_PROGRAM" inspect result.h5
}

case_array() {
  submit --array=2-3 --ntasks=2 'output.file=result_{SLURM_ARRAY_TASK_ID}.h5' 'solver.epochs={SLURM_ARRAY_TASK_ID}'
  is_completed
  [[ $(epochs_of result_2.h5) == 2 && $(epochs_of result_3.h5) == 3 ]]
}

# The second waits for the first and finds nothing left to do.
case_one_output() {
  submit --ntasks=2
  local first=$job
  epochs_are_made 2
  submit --ntasks=2
  is_completed
  job=$first is_completed
  is_straight
  has_line tessera-$job.log "another run writes it, process .* of job $first; waiting for its end"
  has_line tessera-$job.log 'nothing is left to do'
}

case_supervised_rank() {
  TESSERA_RESTARTS=2 submit --nodes=2 --ntasks=2
  epochs_are_made 30
  kill -9 "$(a_rank)"
  has_line tessera-$job.log 'start 1 of at most 2 after the first' 30
  has_line tessera-$job.log 'the run goes on from there' 30
  kill -STOP "$(a_rank)"
  is_completed
  is_straight
  has_line tessera-$job.log 'start 2 of at most 2 after the first'
}

case_supervised_node() {
  TESSERA_RESTARTS=1 submit --no-kill --nodes=2 --ntasks=2
  epochs_are_made 30
  lose_node n2
  is_completed
  is_nearly_straight
  has_line tessera-$job.log 'supervise: 1 of 2 nodes are left: n1'
  regain_nodes
}

case_supervised_mpirun() {
  "$home/cluster/supervise" -n 2 mpirun --oversubscribe --bind-to none -np 2 "$TESSERA_PROGRAM" reconstruct deck.toml \
    decomposition.timeout_s=5 >run.log 2>&1 &
  epochs_are_made 30 run.log
  kill -9 "$(a_rank)"
  has_line run.log 'start 1 of at most 2 after the first' 30
  has_line run.log 'the run goes on from there' 30
  epochs_are_made 100 run.log
  kill -STOP "$(a_rank)"
  wait $!
  is_straight
  has_line run.log 'start 2 of at most 2 after the first'
}

# Without Slurm: mpirun by an agent in the place of ssh, and a host whose link is cut.
case_supervised_hosts() {
  export OMPI_MCA_plm_rsh_agent=$home/cluster/test/agent OMPI_MCA_plm=rsh
  nsenter --net=/run/netns/n1 unshare --uts bash -c 'hostname n1; exec "$@"' bash "$home/cluster/supervise" -n 1 \
    mpirun -np 2 --host n1:1,n2:1 --bind-to none "$TESSERA_PROGRAM" reconstruct deck.toml decomposition.timeout_s=5 >run.log 2>&1 &
  job=
  epochs_are_made 30 run.log
  ip link set to_n2 down
  wait $!
  ip link set to_n2 up
  is_nearly_straight
  has_line run.log 'supervise: 1 of 2 hosts are left: n1:1'
}

# Jobs of scaling/study, all submitted at once, those of 12 ranks on two nodes.
case_study() {
  small_study
  "$home/scaling/study" "$home/build/bin/tessera_bench" results --study study.toml --launcher slurm --max-ranks 12
  [[ $(find results -name '*.json' | wc -l) == 3 ]]
  has_line results/tables.md '^| 12 | 64 |'
  job=$(sed -n 's/Submitted batch job //p' results/jobs/strong_b16_12.log)
  scontrol show job "$job" | grep --quiet 'NumNodes=2'
}

# Started as runs of one rank each, as by a launcher that does not know the program's MPI: the study says so.
case_study_alone() {
  small_study
  sed -i 's/^start = "srun.*/start = "env"/' study.toml
  local code=0
  "$home/scaling/study" "$home/build/bin/tessera_bench" results --study study.toml --launcher slurm --max-ranks 2 \
    >study.log 2>&1 || code=$?
  [[ $code == 1 ]]
  has_line study.log 'strong_b16_2: 2 rank(s) were to be started, and what ran has 1'
}

small_study() {
  sed '/^\[check\]/,$d' "$home/scaling/study.toml" >study.toml
  cat >>study.toml <<'END'
[check]
error_spread = 1e-4
[[study]]
name = "strong"
ranks = [1, 2, 12]
raster = [8, 8]
window_px = 32
step_px = 4
batch_sizes = [16]
END
}

# Without Slurm: 64 ranks on four hosts find what one finds, and are soon there.
case_hosts_64() {
  export OMPI_MCA_plm_rsh_agent=$home/cluster/test/agent OMPI_MCA_plm=rsh
  local keys=(simulation.n_positions=1024 solver.epochs=3 solver.batch_size=256)
  rm scan.h5
  "$TESSERA_PROGRAM" simulate deck.toml "${keys[@]}"
  "$TESSERA_PROGRAM" reconstruct deck.toml "${keys[@]}" output.file=one.h5
  local begun=$SECONDS
  mpirun --oversubscribe --bind-to none --host n1:16,n2:16,n3:16,n4:16 -np 64 "$TESSERA_PROGRAM" reconstruct deck.toml \
    "${keys[@]}" >run.log 2>&1 &
  epochs_are_made 1 run.log
  echo "one epoch was made after $((SECONDS - begun)) s"
  ((SECONDS - begun <= 10))
  wait $!
  has_line run.log '64 tiles'
  is_within 2e-6 one.h5
}

# submit OPTION... [key=value ...]: sets job.
submit() {
  local options=() keys=(decomposition.timeout_s=10) word
  for word in "$@"; do
    if [[ $word == -* ]]; then options+=("$word"); else keys+=("$word"); fi
  done
  job=$(sbatch --parsable --chdir="$PWD" --time=10 "${options[@]}" "$home/cluster/tessera.slurm" deck.toml "${keys[@]}")
}

state() {
  scontrol show job "$job" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | sort -u
}

is_completed() {
  wait_for 150 "the job to end" eval '[[ ! $(state) =~ PENDING|RUNNING|COMPLETING|CONFIGURING ]]'
  if [[ $(state) != COMPLETED ]]; then
    echo "job $job has ended as $(state)"
    return 1
  fi
}

epochs_are_made() {
  has_line "${2:-tessera-$job.log}" "$(printf 'epoch %4d/' "$1")" 60
}

# has_line FILE PATTERN [SECONDS]: at once, or within that time.
has_line() {
  wait_for "${3:-1}" "\"$2\" in $1" grep --quiet -- "$2" "$1" 2>/dev/null
}

epochs_of() {
  "$TESSERA_PROGRAM" inspect "$1" --json | sed -n 's/.*"epochs": \([0-9]*\).*/\1/p' | head -1
}

# difference [FILE]
difference() {
  "$TESSERA_PROGRAM" compare result.h5 "${1:-../straight/result.h5}" --json | sed -n 's/.*"object_difference": \([^,]*\).*/\1/p' | head -1
}

is_straight() {
  local found
  found=$(difference)
  echo "difference of the objects: $found"
  [[ $found == 0.0 ]]
}

# On fewer ranks.
is_nearly_straight() {
  is_within 1e-4
}

# is_within LIMIT [FILE]
is_within() {
  local found
  found=$(difference "${2:-}")
  echo "difference of the objects: $found"
  awk -v found="$found" -v limit="$1" 'BEGIN { exit !(found != "" && found < limit) }'
}

# The process of some rank.
a_rank() {
  pgrep --full --newest "^$TESSERA_PROGRAM reconstruct"
}
