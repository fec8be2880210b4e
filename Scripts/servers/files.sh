# shellcheck shell=bash
# What the servers serve, and the certificates.

make_files() {
    local root=$directory/www
    mkdir -p "$root/put"
    echo hello >"$root/hello"
    head -c 1024 < <(yes 'fifteen letters') >"$root/1k"
    # Not compressible and not periodic, so a chunk that is lost or swapped shows.
    head -c $((10 * 1024 * 1024)) /dev/urandom >"$root/10m"
    truncate -s 1G "$root/large"
    cp "$templates/page.html" "$root/page"
}

# issue NAME SECTION: a key and a certificate of our authority.
issue() {
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config "$templates/openssl.cnf" \
        -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 \
        -extfile "$templates/openssl.cnf" -extensions "$1" -out "$1.pem"
}

# What the client's PKCS #12 file is encrypted with.
client_password=opensesame

make_certificates() {
    (
        cd "$directory"
        openssl req -new -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
            -config "$templates/openssl.cnf" -extensions authority -subj "/CN=Midstream test authority" \
            -keyout ca.key -out ca.pem
        issue server localhost
        issue client "Midstream test client"
        openssl pkcs12 -export -in client.pem -inkey client.key -passout "pass:$client_password" -out client.p12
    ) >"$directory/openssl.log" 2>&1 || {
        cat "$directory/openssl.log" >&2
        fail "the certificates can't be made; openssl's output is above"
    }
}

# Prints the pin of a certificate's public key as curl writes it: sha256//…
public_key_pin() {
    echo "sha256//$(openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform der |
        openssl dgst -sha256 -binary | openssl enc -base64)"
}
