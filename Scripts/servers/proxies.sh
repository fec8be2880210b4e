# shellcheck shell=bash
# tinyproxy with and without a password, and microsocks with one.

proxy_user=proxyuser
proxy_password=proxypass

# launch_tinyproxy NAME AUTHENTICATION PORT
launch_tinyproxy() {
    sed -e "s/@PORT@/$3/" -e "s/@AUTHENTICATION@/$2/" "$templates/tinyproxy.conf" >"$directory/$1.conf"
    launch "$1.log" tinyproxy -d -c "$directory/$1.conf"
}

launch_microsocks() {
    launch microsocks.log microsocks -i 127.0.0.1 -p "$1" -u "$proxy_user" -P "$proxy_password"
}

start_proxies() {
    start_on_free_ports tinyproxy 1 launch_tinyproxy tinyproxy "BasicAuth $proxy_user $proxy_password"
    http_proxy_port=${ports[0]}
    start_on_free_ports tinyproxy-open 1 launch_tinyproxy tinyproxy-open ""
    open_proxy_port=${ports[0]}
    start_on_free_ports microsocks 1 launch_microsocks
    socks_proxy_port=${ports[0]}
}
