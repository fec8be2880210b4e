# shellcheck shell=bash
# What the command is told. The ports come from nginx.sh and proxies.sh.

export_environment() {
    export MIDSTREAM_NGINX_HTTP=http://127.0.0.1:$nginx_http_port
    export MIDSTREAM_NGINX_HTTPS=https://localhost:$nginx_https_port
    # Asks for a client certificate.
    export MIDSTREAM_NGINX_MTLS=https://localhost:$nginx_mtls_port
    export MIDSTREAM_NGINX_SOCKET=$directory/nginx.sock
    # What is served, and what has been PUT.
    export MIDSTREAM_NGINX_ROOT=$directory/www
    # A line per request: connection, request on that connection, protocol, request line.
    export MIDSTREAM_NGINX_LOG=$directory/nginx-access.log

    # Empty where Python's websockets isn't installed.
    export MIDSTREAM_WEBSOCKET_PORT=$websocket_port
    export MIDSTREAM_WEBSOCKET_SOCKET=$directory/websocket.sock
    # With that package.
    export MIDSTREAM_PYTHON=${websocket_port:+$python}

    # Empty where aioquic isn't installed. The server's origin is nginx's of https.
    export MIDSTREAM_HTTP3_PYTHON=$http3_python

    # PEM files. The authority has signed both certificates.
    export MIDSTREAM_CA=$directory/ca.pem
    export MIDSTREAM_SERVER_CERT=$directory/server.pem
    export MIDSTREAM_SERVER_KEY=$directory/server.key
    export MIDSTREAM_CLIENT_CERT=$directory/client.pem
    export MIDSTREAM_CLIENT_KEY=$directory/client.key
    # Both in one file, PKCS #12.
    export MIDSTREAM_CLIENT_PKCS12=$directory/client.p12
    export MIDSTREAM_CLIENT_PASSWORD=$client_password
    # The server's public key as CURLOPT_PINNEDPUBLICKEY takes it.
    MIDSTREAM_SERVER_PIN=$(public_key_pin "$MIDSTREAM_SERVER_CERT")
    export MIDSTREAM_SERVER_PIN

    # The first and the last ask for user and password, the open one doesn't.
    export MIDSTREAM_HTTP_PROXY=http://127.0.0.1:$http_proxy_port
    export MIDSTREAM_HTTP_PROXY_OPEN=http://127.0.0.1:$open_proxy_port
    export MIDSTREAM_SOCKS_PROXY=socks5://127.0.0.1:$socks_proxy_port
    export MIDSTREAM_PROXY_USER=$proxy_user
    export MIDSTREAM_PROXY_PASSWORD=$proxy_password
}
