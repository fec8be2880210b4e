# shellcheck shell=bash
# Ports: a free one can't be reserved for another program, so a server is started on a likely one, watched until it
# listens itself, and started again on another one if it couldn't.

# Prints lines "port inode" of the sockets that listen on IPv4.
listening_sockets() {
    local address state inode _
    while read -r _ address _ state _ _ _ _ _ inode _; do
        [[ $state != 0A ]] || echo "$((16#${address##*:})) $inode"
    done </proc/net/tcp
}

# Prints a port on which nobody listens, below those that the kernel gives to outgoing connections.
likely_port() {
    local port taken
    taken=$(listening_sockets)
    while port=$((20000 + RANDOM % 12000)); do
        [[ $'\n'$taken != *$'\n'"$port "* ]] || continue
        echo "$port"
        return
    done
}

# listens PID PORT: whether that very process listens there; another copy's server may have been faster.
listens() {
    local pid=$1 wanted=$2 port inode
    while read -r port inode; do
        if [[ $port == "$wanted" ]]; then
            [[ -z $(find "/proc/$pid/fd" -lname "socket:\\[$inode\\]" 2>/dev/null) ]] || return 0
        fi
    done < <(listening_sockets)
    return 1
}

# await_listening PID PORT…: true when the process listens on all of them, false when it has ended or 10 s are over.
await_listening() {
    local pid=$1 port attempt
    shift
    for ((attempt = 0; attempt < 200; attempt++)); do
        is_running "$pid" || return 1
        for port in "$@"; do
            listens "$pid" "$port" || {
                sleep 0.05
                continue 2
            }
        done
        return 0
    done
    return 1
}

# start_on_free_ports NAME COUNT FUNCTION…: calls the function with COUNT ports appended, up to five times with new
# ports. It must launch one server. The ports end up in `ports`.
ports=()
start_on_free_ports() {
    local name=$1 count=$2 attempt
    shift 2
    for ((attempt = 0; attempt < 5; attempt++)); do
        ports=()
        while ((${#ports[@]} < count)); do
            ports+=("$(likely_port)")
        done
        "$@" "${ports[@]}"
        if await_listening "$last_server_pid" "${ports[@]}"; then
            return
        fi
        stop_group "$last_server_pid" TERM
    done
    cat "$directory/$name.log" >&2
    fail "$name doesn't start; its output is above"
}
