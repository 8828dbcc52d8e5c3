#!/bin/sh
# An agent for the tests of declared agents: plans two steps, works one per session, and refuses every argument it does not know.
# FAKE_DIR holds what it remembers (conversations, launches) and what it is to do wrong.
set -u

fail() { printf '%s\n' "$1" >&2; exit "$2"; }

name=strict resume= file= steps=2
while [ $# -gt 0 ]; do
    case $1 in
    --version) echo "strict-agent v1.2.3"; exit 0 ;;
    --json) ;;
    --name | --resume | --prompt-file | --cd | --model | --steps)
        [ $# -ge 2 ] || fail "option $1 needs a value" 2
        case $1 in
        --name) name=$2 ;;
        --resume) resume=$2 ;;
        --prompt-file) file=$2 ;;
        --cd) [ "$2" = "$PWD" ] || fail "told to be in $2, and is in $PWD" 2 ;;
        --model) printf '%s\n' "$2" >>"$FAKE_DIR/models" ;;
        --steps) steps=$2 ;;
        esac
        shift
        ;;
    *) fail "unknown option $1" 2 ;;
    esac
    shift
done

prompt=$(cat)
if [ -n "$file" ]; then
    [ -z "$prompt" ] || fail "a prompt by file and one by standard input" 2
    prompt=$(cat "$file")
fi
dir=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
[ -d "$dir" ] || fail "no task directory in the prompt" 2

printf '%s resume=%s\n' "$name" "$resume" >>"$FAKE_DIR/launches"
printf '%s\n' "$prompt" >"$FAKE_DIR/prompt"
now=$(date +%s)
if [ -e "$FAKE_DIR/limit-$name" ]; then
    until=$((now + $(cat "$FAKE_DIR/limit-$name")))
    rm "$FAKE_DIR/limit-$name"
    echo "$until" >"$FAKE_DIR/until"
    printf '{"type":"error","error":"Rate Limit reached","resets":%s}\n' "$until"
    exit 1
fi

if [ -n "$resume" ]; then
    grep -qx "$resume" "$FAKE_DIR/conversations" || {
        echo '{"type":"error","error":"no such session"}'
        exit 1
    }
    id=$resume
else
    id=c-$$
    echo "$id" >>"$FAKE_DIR/conversations"
fi
printf '{"type":"start","session":{"id":"%s"}}\n' "$id"

case $prompt in
*"Initializer Agent"*)
    {
        printf '# A plan\n\n## Tasks\n\n### Phase 1\n\n'
        step=1
        while [ "$step" -le "$steps" ]; do
            printf -- '- [ ] Task %s: make file %s\n' "$step" "$step"
            step=$((step + 1))
        done
    } >"$dir/task_list.md"
    echo "planned" >"$dir/progress.md"
    ;;
*"Executor Agent"*)
    if [ -e "$FAKE_DIR/die-once" ]; then
        rm "$FAKE_DIR/die-once"
        kill -9 $$
    fi
    if [ -e "$FAKE_DIR/say" ]; then
        mv "$FAKE_DIR/say" "$FAKE_DIR/saying"
        . "$FAKE_DIR/saying" >"$FAKE_DIR/said" 2>&1
    fi
    # The other agent's limit is over before this session is.
    if [ -e "$FAKE_DIR/until" ] && [ -e "$FAKE_DIR/outlast" ]; then
        while [ "$(date +%s)" -le $(($(cat "$FAKE_DIR/until") + 1)) ]; do sleep 0.05; done
        rm "$FAKE_DIR/outlast"
    fi
    step=$(sed -n 's/^- \[ \] Task \([0-9]*\):.*/\1/p' "$dir/task_list.md" | head -n 1)
    printf '{"type":"tool","name":"write","input":{"path":"file-%s"}}\n' "$step"
    echo "by $name" >"file-$step"
    awk '!done && sub(/- \[ \]/, "- [x]") { done = 1 } { print }' "$dir/task_list.md" >"$dir/new" && mv "$dir/new" "$dir/task_list.md"
    echo "made file $step" >>"$dir/progress.md"
    ;;
*) fail "neither role is in the prompt" 2 ;;
esac

echo '{"type":"say","content":[{"text":"All good."},{"kind":"other"}],"usage":{"in":100,"out":20},"usd":0.25}'
echo '{"type":"end"}'
if [ -e "$FAKE_DIR/leave-behind" ]; then
    rm "$FAKE_DIR/leave-behind"
    sleep 600 &
elif [ -e "$FAKE_DIR/stay" ]; then
    rm "$FAKE_DIR/stay"
    exec sleep 600
fi
exit 0
