# The check of every task of `cargo xtask torture`, and the setup of its clean checkouts; whether the work is there, `--expect` says.
# Arguments: the scene's directory, and where it must be. It complains if it is elsewhere or if anybody else is at work there.
scene=$1 where=$2
complain() {
    echo "$1: $where in $PWD" >>"$scene/seen"
    exit 1
}

exec 8<.
flock -n -E 75 8
# A `flock` that was hit itself has met nobody.
case $? in 0) ;; 75) complain "a check beside an agent or another check" ;; *) exit 1 ;; esac
case $where in
    workspace) [ -e dirt ] || complain "a check that is not where the agent worked" ;;
    *) [ -e dirt ] && complain "a clean checkout that is not clean" ;;
esac
case $where in
    setup) echo ready >ready ;;
    clean) [ -s ready ] || complain "a clean checkout without its setup" ;;
esac
sleep 0.2
