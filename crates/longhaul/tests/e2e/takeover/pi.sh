#!/usr/bin/env bash
# A stand-in for pi that is strict about its arguments: sessions with `-p`, and without it an interface that obeys words typed to it.
# FAKE_DIR holds what it remembers: conversations, launches, and what the interface saw of its surroundings.
set -u

fail() { printf '%s\n' "$1" >&2; exit "$2"; }

print= mode=text session= new=
while [ $# -gt 0 ]; do
    case $1 in
    --version) echo "1.5.0"; exit 0 ;;
    -p) print=yes ;;
    --mode | --session | --session-id | --model | --tools)
        [ $# -ge 2 ] || fail "option $1 needs a value" 2
        case $1 in
        --mode) mode=$2 ;;
        --session) session=$2 ;;
        --session-id) new=$2 ;;
        esac
        shift
        ;;
    *) fail "unknown option $1" 2 ;;
    esac
    shift
done

known() { grep -qx "$1" "$FAKE_DIR/conversations" 2>/dev/null || fail "No session found matching '$1'" 1; }

# Everything but the standard three, and bash's own descriptor of this script.
close_strange() {
    for path in "/proc/$BASHPID/fd/"*; do
        number=${path##*/}
        if [ "$number" -gt 2 ] && [ "$number" -lt 255 ]; then eval "exec $number>&-"; fi
    done
}

interface() {
    [ -n "$session" ] && [ -z "$new" ] && [ "$mode" = text ] || fail "an interface wants --session and no --mode" 2
    [ -t 0 ] && [ -t 1 ] || fail "an interface wants a terminal" 2
    known "$session"
    env | grep '^LONGHAUL_\|^PWD=\|^DEMO_LEDGER=\|^MY_' | sort >"$FAKE_DIR/environment"
    pwd >"$FAKE_DIR/directory"
    trap 'echo "interrupted"' INT
    printf '%s %s\n' "$PPID" "$$" >"$FAKE_DIR/new" && mv "$FAKE_DIR/new" "$FAKE_DIR/pids"
    echo "interface of $session"
    while :; do
        read -r word
        # Interrupted by a signal, or nobody is there any more.
        [ $? -le 128 ] || continue
        case $word in
        bye) exit 0 ;;
        fail) exit 3 ;;
        stop) kill -STOP $$ ; echo "continued" ;;
        leave) (close_strange; trap "" HUP; echo "$BASHPID" >"$FAKE_DIR/left"; exec sleep 600) </dev/null >/dev/null 2>&1 & wait_left ;;
        leave-lock) (trap "" HUP; echo "$BASHPID" >"$FAKE_DIR/left"; exec sleep 600) </dev/null >/dev/null 2>&1 & wait_left ;;
        hidden) close_strange; echo "closed" ;;
        scrub) exec env -i "$BASH" -c 'echo "scrubbed"; while read -r word; do [ "$word" = bye ] && exit 0; done' ;;
        raw) stty raw -echo; echo "raw" ;;
        "") [ -t 0 ] || exit 1 ;;
        *) echo "strange word $word" ;;
        esac
    done
}

wait_left() {
    while [ ! -s "$FAKE_DIR/left" ]; do sleep 0.005; done
    echo "left"
}

if [ -z "$print" ]; then
    echo "interface $session" >>"$FAKE_DIR/launches"
    interface
fi

[ "$mode" = json ] || fail "a session wants --mode json" 2
prompt=$(cat)
if [ -n "$session" ]; then
    known "$session"
else
    session=$new
    echo "$session" >>"$FAKE_DIR/conversations"
fi
echo "session $session" >>"$FAKE_DIR/launches"
mkdir -p "$PI_CODING_AGENT_DIR/sessions/here"
mark=$(printf '%s\n' "$prompt" | sed -n 's/^Session: /Session: /p' | head -n 1)
printf '{"type":"message","message":{"role":"user","content":"%s"}}\n' "$mark" \
    >>"$PI_CODING_AGENT_DIR/sessions/here/1_$session.jsonl"
printf '{"type":"session","version":3,"id":"%s"}\n{"type":"agent_start"}\n' "$session"

dir=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p' | head -n 1)
if [ ! -e "$dir/task_list.md" ]; then
    printf '# A plan\n\n## Tasks\n\n- [ ] Task 1: one\n- [ ] Task 2: two\n' >"$dir/task_list.md"
    echo "planned" >"$dir/progress.md"
elif [ -e "$FAKE_DIR/hang" ]; then
    exec sleep 600
else
    sed -i '0,/- \[ \]/s//- [x]/' "$dir/task_list.md"
    echo "worked" >>"$dir/progress.md"
fi
echo '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop","usage":{"input":9,"output":1}}}'
echo '{"type":"agent_settled"}'
