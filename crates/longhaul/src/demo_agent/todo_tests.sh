set -eu

here=$(dirname "$0")
TODO_FILE=$(mktemp)
export TODO_FILE
trap 'rm -f "$TODO_FILE" "$TODO_FILE.new"' EXIT

expect() {
    seen=$(sh "$here/todo.sh" list)
    [ "$seen" = "$1" ] || { printf 'expected:\n%s\nseen:\n%s\n' "$1" "$seen" >&2; exit 1; }
}

refuse() {
    if sh "$here/todo.sh" "$@" 2>/dev/null; then
        printf 'not refused: %s\n' "$*" >&2
        exit 1
    fi
}

expect ''
sh "$here/todo.sh" add "buy milk"
sh "$here/todo.sh" add "call & ask 'them'"
expect "1 [ ] buy milk
2 [ ] call & ask 'them'"
sh "$here/todo.sh" done 2
expect "1 [ ] buy milk
2 [x] call & ask 'them'"
sh "$here/todo.sh" rm 1
expect "1 [x] call & ask 'them'"
refuse add
refuse done 2
refuse rm x
refuse fly
expect "1 [x] call & ask 'them'"
printf 'all tests passed\n'
