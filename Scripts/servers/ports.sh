# shellcheck shell=bash
# Ports: a free one can't be reserved for another program, so a server is started on a likely one, watched until it
# listens itself, and started again on another one if it couldn't.

# Prints lines "port inode" of the sockets that listen on IPv4, the port as four hexadecimal digits.
listening_sockets() {
    awk '$4 == "0A" { sub(/.*:/, "", $2); print $2, $10 }' /proc/net/tcp
}

# Prints a port on which nobody listens, below those that the kernel gives to outgoing connections.
likely_port() {
    local port taken
    taken=$(listening_sockets)
    while port=$((20000 + RANDOM % 12000)); do
        [[ $'\n'$taken == *$'\n'"$(printf '%04X' "$port") "* ]] || break
    done
    echo "$port"
}

# listens PID PORT: whether that very process listens there; another copy's server may have been faster.
listens() {
    local port inode wanted
    wanted=$(printf '%04X' "$2")
    while read -r port inode; do
        if [[ $port == "$wanted" && -n $(find "/proc/$1/fd" -lname "socket:\\[$inode\\]" 2>/dev/null) ]]; then
            return 0
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
