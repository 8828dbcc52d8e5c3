#!/bin/sh
# A person's own program: one argument, the message on standard input, the facts in variables. One file for each time it is run.
if [ "$#" -ne 1 ] || [ "$1" != "--loud" ]; then
    echo "tell: unknown arguments: $*" >&2
    exit 64
fi
mkdir "$TOLD/tell.$$"
cat > "$TOLD/tell.$$/input"
env | grep '^LONGHAUL_' | sort > "$TOLD/tell.$$/variables"
pwd > "$TOLD/tell.$$/directory"
mv "$TOLD/tell.$$" "$TOLD/told.$LONGHAUL_OCCASION.$$"
