#!/usr/bin/env bash
# The least a runner written in shell does for each session: lock, agent, log, session id, progress.
# Called by `cargo xtask bench` with the agent's program, the task's name, the goal and the number of sessions it must take.
set -euo pipefail
agent=$1
task=$2
goal=$3
expected=$4
directory=.autonomous/$task
list=$directory/task_list.md
mkdir -p "$directory"

run_session() {
    local run_log
    mkdir "$directory/.runner.lock"
    echo $$ > "$directory/.runner.lock/pid"
    run_log=$(mktemp "$directory/session.run.XXXXXX.log")
    printf '# %s\n\nTask Directory: %s\n\nGoal: %s\n' "$1" "$directory" "$goal" |
        "$agent" demo-agent 2>&1 | tee "$run_log" >&2
    jq -rR 'fromjson? | select(.type == "session") | .id' "$run_log" > "$directory/session.id.new"
    mv "$directory/session.id.new" "$directory/session.id"
    cat "$run_log" >> "$directory/session.log"
    rm "$run_log" "$directory/.runner.lock/pid"
    rmdir "$directory/.runner.lock"
}

run_session "Initializer Agent"
sessions=1
while grep -q '^- \[ \] Task' "$list"; do
    run_session "Executor Agent"
    sessions=$((sessions + 1))
done
test -s "$directory/session.id"
test "$sessions" = "$expected"
