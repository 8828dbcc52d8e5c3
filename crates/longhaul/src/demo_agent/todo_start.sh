set -eu

todo_file=${TODO_FILE:-todo.txt}

fail() {
    printf 'todo: %s\n' "$1" >&2
    exit 2
}

need_item() {
    case "$1" in
    '' | *[!0-9]*) fail "an item number is needed" ;;
    esac
    [ -f "$todo_file" ] || fail "there are no items"
    [ "$1" -ge 1 ] && [ "$1" -le "$(wc -l <"$todo_file")" ] || fail "there is no item $1"
}
