# shellcheck shell=bash
# A server of HTTP/3 in front of nginx, on the port of nginx's https, where PYTHON_TOOLS=http3 Scripts/python has installed aioquic.

http3_python=$scripts/../.build/python-http3/bin/python

start_http3() {
    local attempt
    "$http3_python" -c 'import aioquic' 2>/dev/null || {
        http3_python=
        return 0
    }
    http3_python=$(realpath --no-symlinks "$http3_python")
    launch http3.log "$http3_python" "$(realpath "$templates")/http3.py" "$nginx_https_port" server.pem server.key "$nginx_http_port"
    for ((attempt = 0; attempt < 200; attempt++)); do
        ! grep -q ready "$directory/http3.log" 2>/dev/null || return 0
        is_running "$last_server_pid" || break
        sleep 0.05
    done
    cat "$directory/http3.log" >&2
    fail "the server of HTTP/3 doesn't start; its output is above"
}
