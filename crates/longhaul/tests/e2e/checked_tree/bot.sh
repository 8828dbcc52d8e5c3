#!/bin/sh
# An agent made of two scripts: $WORK is sourced by the working session, $FIX by each fixing one.
prompt=$(cat)
dir=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
git() { command git -c user.name=A -c user.email=a@b.example "$@"; }
case $prompt in
*"Initializer Agent"*) printf '# H\n\n## Tasks\n\n- [ ] Task 1: x\n' >"$dir/task_list.md"; echo p >"$dir/progress.md" ;;
*"own checks do not pass"*) printf '%s\n' "$prompt" >>"$PROMPTS"; eval "$FIX" ;;
*) eval "$WORK"; sed -i 's/- \[ \]/- [x]/' "$dir/task_list.md" ;;
esac >>"$PROMPTS.out" 2>&1
echo '{"event":"done"}'
