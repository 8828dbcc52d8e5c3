#!/bin/sh
exec longhaul run-session "$@"
