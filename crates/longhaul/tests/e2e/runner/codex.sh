#!/bin/sh
# A stand-in for codex that takes what `codex exec` and `codex exec resume` of 0.166 take, and nothing else.
# Every argument is recorded. What it then does stands in $CODEX_DOES; without it, it plans three steps and ticks one per session.
for word in "$@"; do printf '%s\n' "$word"; done > "$CODEX_RECORDS/$$.argv"
printf '%s' "$PWD" > "$CODEX_RECORDS/$$.cwd"
refuse() { echo "error: unexpected argument '$1' found" >&2; exit 2; }
if [ "$1" = resume ]; then
    # Its own interface, which a person talks to.
    shift
    while [ $# -gt 1 ]; do
        case "$1" in --no-daemon) shift ;; -C | -s | -c) shift 2 ;; *) refuse "$1" ;; esac
    done
    echo "interface of $1"
    exit 0
fi
[ "$1" = exec ] || refuse "$1"
shift
resume=
if [ "$1" = resume ]; then resume=yes; shift; fi
while [ $# -gt 0 ]; do
    case "$1" in
        --json | --skip-git-repo-check) shift ;;
        -c) case "$2" in *=*) shift 2 ;; *) refuse "$2" ;; esac ;;
        -C | --cd | -s | --sandbox | --add-dir) [ -z "$resume" ] || refuse "$1"; shift 2 ;;
        -*) refuse "$1" ;;
        *) break ;;
    esac
done
id=
if [ -n "$resume" ]; then id=$1; shift; fi
[ $# -eq 1 ] || refuse "$2"
prompt=$1
# Codex waits for the end of a standard input that is no terminal.
cat > "$CODEX_RECORDS/$$.stdin"
dir=$(printf '%s\n' "$prompt" | sed -n 's/^Task Directory: //p')
thread=${id:-$(printf '01a1e094-4a55-7e31-a327-%012d' $$)}
start() { echo "{\"type\":\"thread.started\",\"thread_id\":\"$thread\"}"; }
finish() { echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'; }
plan() {
    printf '# List\n\n## Tasks\n\n- [ ] Task 1: one\n- [ ] Task 2: two\n- [ ] Task 3: three\n' > "$dir/task_list.md"
    echo '# Progress' > "$dir/progress.md"
}
tick() { sed -i '0,/^- \[ \]/s//- [x]/' "$dir/task_list.md"; }
work() { start; if [ -f "$dir/task_list.md" ]; then tick; else plan; fi; finish; }
if [ -n "$CODEX_DOES" ]; then eval "$CODEX_DOES"; else work; fi
