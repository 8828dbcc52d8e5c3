#!/bin/sh
# Stands in for openclaw: takes exactly `system event --text TEXT --mode now`, and refuses everything else.
if [ "$#" -ne 6 ] || [ "$1 $2 $3 $5 $6" != "system event --text --mode now" ] || [ -z "$4" ]; then
    echo "openclaw: unknown arguments: $*" >&2
    exit 64
fi
printf '%s\n' "$4" > "$TOLD/openclaw.new" && mv "$TOLD/openclaw.new" "$TOLD/openclaw"
