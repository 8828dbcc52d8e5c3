# The agent that `cargo xtask torture` lets Longhaul run: plans three steps, then takes one per session and writes down that it ran.
# Arguments: the scene's directory, and what its child process does with the environment. It and its child process lock the task and the
# directory, so that two agents at once are seen whoever made them. The name of a task says what it does: `-family` submits a child task.
scene=${1%/} child=$2
prompt=$(cat)
dir=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
task=$(basename "$dir")
list=$dir/task_list.md
file() { echo "$task/step-$1.txt"; }

exec 9>>"$scene/locks/$task" 8<.
# A `flock` that was hit itself has met nobody.
alone() {
    flock -n -E 75 "$1"
    case $? in 0) ;; 75) echo "$2: $task $LONGHAUL_SESSION" >>"$scene/seen" ;; *) exit 1 ;; esac
}
alone 9 "two agents of one task"
alone 8 "an agent beside another one or a check in $PWD"
echo "$task $LONGHAUL_SESSION" >>"$scene/ledger"
echo ignored >dirt
case $child in
    scrubbed) env -i PATH="$PATH" setsid sh -c 'sleep 30; : "$1"' child "$scene" >/dev/null 2>&1 & ;;
    marked) setsid sh -c 'sleep 30; : "$1"' child "$scene" >/dev/null 2>&1 & ;;
esac

# A child may have only a check of its parent, to the letter. What was submitted before this session was killed is found by its name.
submit_child() {
    case $task in *-clean*) where=clean ;; *) where=workspace ;; esac
    kid=$task.kid
    "$scene/longhaul" run -d --name "$kid" --check "sh $scene/check.sh $scene $where" --expect "$kid/step-3.txt" "Outlive it" ||
        "$scene/longhaul" show "$kid" || exit 1
    echo "$kid" >>"$scene/children"
}

case $prompt in
    *"Initializer Agent"*)
        printf '# List\n\n## Tasks\n\n- [ ] Task 1: one\n- [ ] Task 2: two\n- [ ] Task 3: three\n' >"$list.new"
        echo planned >"$dir/progress.md"
        mv "$list.new" "$list" ;;
    *)
        step=$(sed -n 's/^- \[ \] Task \([0-9]*\):.*/\1/p' "$list" | head -n 1)
        sleep 0.3
        case $task$step in *-family1) submit_child >&2 ;; esac
        if [ -n "$step" ]; then
            mkdir -p "$task"
            echo "$task $step" >"$(file "$step")"
            [ $(($$ % 2)) = 0 ] && git add -A && git commit -qm "step $step"
            sleep 0.2
            sed -i "s/^- \[ \] Task $step:/- [x] Task $step:/" "$list"
        fi ;;
esac
echo '{"event":"done"}'
