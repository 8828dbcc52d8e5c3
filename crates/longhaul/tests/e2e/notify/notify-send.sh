#!/bin/sh
# Stands in for notify-send: takes exactly what we send, and refuses everything else.
if [ "$#" -ne 3 ] || [ "$1" != "--app-name=longhaul" ]; then
    echo "notify-send: unknown arguments: $*" >&2
    exit 64
fi
case "$2$3" in -*) echo "notify-send: unknown option" >&2; exit 64 ;; esac
printf '%s\n%s\n' "$2" "$3" > "$TOLD/notify-send.new" && mv "$TOLD/notify-send.new" "$TOLD/notify-send"
