# shellcheck shell=bash
# Starting and stopping: the servers, and the command that uses them.

server_pids=()
last_server_pid=

# launch LOG COMMAND…: starts a server in the temporary directory, its output in LOG. It gets SIGTERM when this script
# dies without the chance to clean up.
launch() {
    local log=$1
    shift
    (cd "$directory" && exec setpriv --pdeathsig TERM "$@" >>"$log" 2>&1 </dev/null) &
    last_server_pid=$!
    server_pids+=("$last_server_pid")
}

is_running() {
    kill -0 "$1" 2>/dev/null
}

# stop_group PID SIGNAL: signals the process group that PID leads; what is still there after 5 seconds is killed.
stop_group() {
    local pid=$1 signal=$2 tenths
    kill -s "$signal" -- "-$pid" 2>/dev/null || return 0
    for ((tenths = 0; tenths < 50; tenths++)); do
        # Reaping the leader lets the group disappear, if nobody else is left in it.
        is_running "$pid" || wait "$pid" 2>/dev/null || true
        kill -0 -- "-$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -s KILL -- "-$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

stop_servers() {
    local pid
    for pid in "${server_pids[@]}"; do
        stop_group "$pid" TERM
    done
    server_pids=()
}
