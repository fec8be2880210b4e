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
    # Otherwise bash would announce the end of each.
    disown "$last_server_pid"
    server_pids+=("$last_server_pid")
}

is_running() {
    kill -0 "$1" 2>/dev/null
}

# stop_group PID SIGNAL: signals the process group that PID leads and waits until it is gone; what is still there after
# 5 seconds is killed.
stop_group() {
    kill -s "$2" -- "-$1" 2>/dev/null || return 0
    await_group_end "$1"
}

await_group_end() {
    local attempt
    for ((attempt = 0; attempt < 250; attempt++)); do
        kill -0 -- "-$1" 2>/dev/null || return 0
        sleep 0.02
    done
    kill -s KILL -- "-$1" 2>/dev/null || true
}

stop_servers() {
    local pid
    for pid in "${server_pids[@]}"; do
        kill -s TERM -- "-$pid" 2>/dev/null || true
    done
    for pid in "${server_pids[@]}"; do
        await_group_end "$pid"
    done
    server_pids=()
}
