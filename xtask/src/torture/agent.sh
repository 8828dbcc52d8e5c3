# The agent that `cargo xtask torture` lets Longhaul run: plans three steps, then takes one per session and writes down that it ran.
# Arguments: the scene's directory, and what its child does with the environment. It and its child hold one lock per task, so that
# two agents of one task are seen whoever made them.
scene=$1 child=$2
prompt=$(cat)
dir=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
task=$(basename "$dir")
list=$dir/task_list.md

exec 9>>"$scene/locks/$task"
flock -n 9 || echo "$task $LONGHAUL_SESSION" >>"$scene/doubled"
echo "$task $LONGHAUL_SESSION" >>"$scene/ledger"
case $child in
    scrubbed) env -i PATH="$PATH" setsid sh -c 'sleep 30; : "$1"' child "$scene" >/dev/null 2>&1 & ;;
    marked) setsid sh -c 'sleep 30; : "$1"' child "$scene" >/dev/null 2>&1 & ;;
esac

case $prompt in
    *"Initializer Agent"*)
        printf '# List\n\n## Tasks\n\n- [ ] Task 1: one\n- [ ] Task 2: two\n- [ ] Task 3: three\n' >"$list.new"
        echo planned >"$dir/progress.md"
        mv "$list.new" "$list" ;;
    *)
        step=$(sed -n 's/^- \[ \] Task \([0-9]*\):.*/\1/p' "$list" | head -n 1)
        sleep 0.3
        if [ -n "$step" ]; then
            echo "$task $step" >"step-$step.txt"
            [ $(($$ % 2)) = 0 ] && git add -A && git commit -qm "step $step"
            sleep 0.2
            sed -i "s/^- \[ \] Task $step:/- [x] Task $step:/" "$list"
        fi ;;
esac
echo '{"event":"done"}'
