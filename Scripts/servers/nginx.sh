# shellcheck shell=bash
# nginx: HTTP, HTTPS with HTTP/2, HTTPS with client certificates, and a unix socket.

launch_nginx() {
    local http=$1 https=$2 mtls=$3 user=
    # Started by root it would become another user, who can't enter the temporary directory.
    ((EUID != 0)) || user="user root;"
    cp "$templates/locations.conf" "$directory/"
    sed -e "s/@USER@/$user/" -e "s/@HTTP_PORT@/$http/" -e "s/@HTTPS_PORT@/$https/" -e "s/@MTLS_PORT@/$mtls/" \
        "$templates/nginx.conf" >"$directory/nginx.conf"
    rm -f "$directory"/*.sock
    launch nginx.log nginx -p "$directory/" -c "$directory/nginx.conf"
}

start_nginx() {
    # As many connections as the configuration allows, where that is permitted.
    ulimit -S -n 8192 2>/dev/null || true
    start_on_free_ports nginx 3 launch_nginx
    nginx_http_port=${ports[0]} nginx_https_port=${ports[1]} nginx_mtls_port=${ports[2]}
}
