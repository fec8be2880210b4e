# shellcheck shell=bash
# Python's websockets behind nginx (locations.conf) and on a port, where Scripts/python has installed it.

websocket_port=
python=$scripts/../.build/python-tools/bin/python

launch_websockets() {
    rm -f "$directory/websocket.sock"
    launch websocket.log "$python" "$templates/websocket.py" "$directory/websocket.sock" "$1"
}

start_websockets() {
    "$python" -c 'import websockets' 2>/dev/null || return 0
    python=$(realpath --no-symlinks "$python")
    templates=$(realpath "$templates")
    start_on_free_ports websocket 1 launch_websockets
    websocket_port=${ports[0]}
}
