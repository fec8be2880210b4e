import Foundation
import Interception
import Midstream
import MidstreamTesting
import TestSupport
import Testing

@testable import MidstreamTool

/// A line for the shell, with the tool as `$m`, the server's URL as `$u`, its port as `$p` and a folder as `$d`; and what comes of it.
private struct Example: CustomTestStringConvertible {
    let line: String
    /// What stands in what was printed.
    let expected: [String]
    let status: Int32

    init(_ line: String, _ expected: String..., status: Int32 = 0) {
        (self.line, self.expected, self.status) = (line, expected, status)
    }

    var testDescription: String { line }
}

@Suite("Every option of the tool", .leavesNothing, .timeLimit(.minutes(10)))
struct OptionTests {
    private let server: MockServer
    private let folder: TemporaryFolder

    init() throws {
        server = try MockServer()
        folder = try TemporaryFolder()
    }

    private static let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    private static let examples = [
        Example("$m -X put $u", "PUT /"), Example("$m --request delete $u", "DELETE /"),
        Example("$m $u -H 'A: b' --header 'C: d'", "A: b\n", "C: d\n"),
        Example("$m $u; $m $u/echo User-Agent:me Accept:a/b", "User-Agent: midst/", "User-Agent: me\n", "Accept: a/b\n"),
        Example("$m $u -q a=1 --query 'b=2 3'", "GET /?a=1&b=2%203"),
        Example("$m $u -d a --data b", "POST /", "Content-Length: 3", "\na&b"),
        Example("printf 'piped' | $m $u -d @-", "Transfer-Encoding: chunked", "\npiped"),
        Example("$m $u --json '{}'", "Content-Type: application/json", "\n{}"),
        Example("$m $u a=1 -f; $m $u --form b=2", "application/x-www-form-urlencoded", "\na=1", "\nb=2"),
        Example("echo text > $d/f; $m $u -F a=1 --multipart f=@$d/f", "multipart/form-data", "filename=\"f\"", "text"),
        Example("$m $u -H 'Content-Type: multipart/related; charset=a' -F a=1", "multipart/related; charset=a; boundary="),
        Example("printf abc > $d/f; $m $u -T $d/f; $m $u --upload $d/f", "PUT /", "Upload-Length: 3", "\nabc"),
        Example("printf abc | $m $u -T -", "PUT /", "\nabc"),
        Example("printf abc > $d/f; $m -X post $u/tus -T $d/f --tus -v", "Tus-Resumable: 1.0.0", "PATCH", "Upload-Offset: 0"),
        Example(
            "printf abc > $d/f; $m $u -T $d/f --curl; $m $u -T $d/f --explain; $m $u -T $d/f --tus --explain", "--data-binary @",
            "Upload-Length: 3", "Upload-Complete: ?1", "Tus-Resumable: 1.0.0"),
        Example(
            "printf abc > $d/f; $m $u -T $d/f --retries 4 --explain; $m $u -T $d/f --retries 8 --explain", "up to 5 times",
            "up to 8 times"),
        Example("printf abc > $d/f; $m $u -T $d/f --explain", "attempt unlimited"),
        Example("printf abc | $m $u -T - --explain; $m $u --explain", "attempt unlimited", "attempt 60.0 seconds"),
        Example("$m $u -m 300 --explain; $m $u -m 300 --retries 1 --explain", "attempt unlimited, call 300", "attempt 60.0 sec"),
        Example("printf abc > $d/f; $m $u -T $d/f --timeout 5 --explain", "attempt 5.0 seconds"),
        Example("printf abc > $d/f; $m $u -T $d/f --tus --curl", "no uploads by tus", status: 2),
        Example("head -c 5000 /dev/zero > $d/f; $m $u -d @$d/f --compress -X post", "Content-Encoding: gzip"),
        Example("$m $u -u a:b; $m $u --user a:b", "Authorization: Basic YTpi"),
        Example("$m $u/digest -u a:b --digest", "Authorization: Digest ", "username=\"a\""),
        Example("printf abc | $m $u/digest -F f=@/dev/stdin -u a:b --digest -i", "HTTP/1.1 401", status: 1),
        Example("printf abc | $m $u/digest f@/dev/stdin -u a:b --digest -i", "HTTP/1.1 401", status: 1),
        Example("printf abc | $m $u -F f=@/dev/stdin", "Transfer-Encoding: chunked", "filename=\"stdin\"", "\r\nabc\r\n"),
        Example("$m $u --bearer T", "Authorization: Bearer T"),
        Example("$m $u --aws-sigv4 us-east-1:s3 -u K:S", "AWS4-HMAC-SHA256 Credential=K/", "/us-east-1/s3/"),
        Example("$m $u --aws-sigv4 s3 -u K:S", "REGION:SERVICE", status: 2),
        Example(
            """
            export AWS_ACCESS_KEY_ID=K AWS_SECRET_ACCESS_KEY=S AWS_SESSION_TOKEN=; $m $u --aws-sigv4 us-east-1:s3 > $d/x
            grep -ci credential=K/ $d/x; grep -ci security-token $d/x; AWS_ACCESS_KEY_ID= $m $u --aws-sigv4 us-east-1:s3
            """, "1\n0\n", "--aws-sigv4 needs -u KEY:SECRET", status: 2),
        Example(
            "printf 'machine 127.0.0.1 login a password b' > $d/n; $m $u --netrc-file $d/n", "others can read", status: 2),
        Example(
            """
            umask 077; printf 'machine h login x password y\\nmachine 127.0.0.1\\n login a password "b"' > $d/n
            export NETRC=$d/n; $m $u -n; $m $u --netrc; $m $u --netrc-file $d/n
            """, "Authorization: Basic YTpi"),
        Example(
            """
            umask 077; printf 'machine 127.0.0.1 login a password b' > $d/n; ln -s $d/n $d/l; $m $u --netrc-file $d/l
            chmod 644 $d/n; $m $u --netrc-file $d/l
            """, "Authorization: Basic YTpi", "others can read", status: 2),
        Example("$m $u/cookie --session $d/s -o $d/x; $m $u --session $d/s; ls -l $d/s", "Cookie: a=b", "-rw-------"),
        Example(
            "cd $d; XDG_STATE_HOME= HOME=$d/h $m $u/cookie --session s; find . -name s.json", "h/.local/state/midst/sessions"),
        Example("$m $u/file -o $d/f; $m $u/file --output $d/g; cat $d/f $d/g", "hellohello"),
        Example("$m $u/file -C -o $d/f; $m $u/file --resume -o $d/g; cat $d/f $d/g", "hellohello"),
        Example("$m $u/file -o $d/f --sha256 \(digest); cat $d/f", "hello"),
        Example("$m $u/file -o $d/f --sha256 \(String(repeating: "0", count: 64))", "digestMismatch", status: 1),
        Example("$m $u/file -s -o $d/f; $m $u/file --silent -o $d/f; echo done", "done"),
        Example("$m $u -i; $m $u --include", "HTTP/1.1 200 OK\n", "\n\nGET /"), Example("$m $u -iXhead", "HTTP/1.1 200 OK\n"),
        Example("$m $u/redirect -w '\\n%{http_code} %{method} %{num_redirects} %header{x}%%'", "\n200 GET 1 echo%"),
        Example("$m $u --write-out '\\n%{time_total} s, %{size_download} B, %{remote_ip}'", " s, ", " B, 127.0.0.1"),
        Example("$m http://127.0.0.1:1 -w '%{http_code} %{http_version}\\n'", "000 0\n", status: 1),
        Example("printf \"[$($m $u/status/404 -o $d/x -w '%{http_code}' 2>$d/e)]\"; cat $d/e", "[404]", "not here"),
        Example("$m $u -w '%{what}'", "%{what}", "time_total", status: 2),
        Example("$m $u/json --lines", "{\"a\":1}"), Example("$m $u/sse --sse", #"{"data":"1","event":"x"}"#, #"{"data":"2""#),
        Example(
            "$m $u/json --color; $m $u/json --no-color", "{\n  \u{1B}[34m\"a\"\u{1B}[0m: \u{1B}[36m1\u{1B}[0m\n}", #"{"a":1}"#),
        Example("$m $u/json --lines --raw --color; $m $u/rows --lines --color", "{\"a\":1}\n{\u{1B}[34m\"a\"\u{1B}[0m: "),
        Example("$m $u/json --color --raw", #"{"a":1}"#), Example("$m $u/rows --color", "{\"a\":1}\n{\"a\":2}\n"),
        Example("$m $u -v; $m $u --verbose", "> GET ", "< 200 OK"),
        Example("$m $u --trace", "WireTimes", "first byte"), Example("$m $u --explain", "would send"),
        Example(
            """
            $m $u --har $d/a; for o in --explain --curl
            do $m $u --har $d/b --otlp $d/t $o; $m replay $d/a --har $d/b --otlp $d/t $o; done
            test -e $d/b || test -e $d/t || echo nothing is kept
            """, "would send", "nothing is kept"),
        Example("$m $u password=x a=b --curl", "curl --request POST", "application/json", "a\":\"b", "withheld"),
        Example("$m $u/file --har $d/a.har; $m $u/file --replay $d/a.har; cat $d/a.har", "hello", #""version":"1.2""#),
        Example(
            "$m $u/file?token=a --har $d/a.har -H A:b; $m replay $d/a.har; $m replay $d/a.har --send", "hello", "can be played",
            status: 2),
        Example(
            #"""
            cat > $d/a <<'END'
            {"log":{"entries":[{"request":{"method":"GET\u001b[2J","url":"http://h/"},"response":{"status":200}},
            {"request":{"url":"http://h/a"},"response":{"status":0},"_midstream":{"error":"x\u001b[2J"}},
            {"request":{"url":"http://h/"},"response":{"status":200}}],
            "_midstream":{"failure":"a\u001b[2J","trace":"b\u001b[2J\n\nc"}}}
            END
            $m replay $d/a --trace
            """#, #"recorded: a\u{1B}[2J"#, "\nb\\u{1B}[2J\n\nc\n", #"midst: GET\u{1B}[2J http://h/"#,
            #"midst: x\u{1B}[2J: Recorded: no response"#, status: 1),
        Example(
            #"""
            cat > $d/a <<'END'
            {"log":{"entries":[{"request":{"method":"GET\u001b[2J","url":"http://h/\u001b[2J"},"response":{"status":200}}]}}
            END
            $m replay $d/a --curl; $m from-curl "curl h $'--\e[8m'"
            """#, #"curl --request $'GET\033[2J' --globoff $'http://h/\033[2J'"#, #"nothing for curl's --\u{1B}[8m"#, status: 2),
        Example(
            #"printf '{"url":"%s/json"}\n{"url":"%s/file?q=caf%%E9&token=a"}\n' $u $u | $m batch --jobs 1 --har $d/a; "#
                + "$m replay $d/a --send --har $d/b; test -e $d/b || echo none was sent", "can be played", "none was sent"),
        Example("$m put $u/echo -d hello --har $d/a.har -o $d/x; $m replay $d/a.har --send", "or not all of it", status: 2),
        Example(
            "$m $u/echo -H A:b -H Authorization:S --har $d/a.har -o $d/x; $m replay $d/a.har --send -H C:d", "\nA: b\n",
            "\nC: d\n"),
        Example(
            #"printf '{"url":"%s/file"}\n{"url":"%s/json"}\n' $u $u | $m batch --jobs 1 --har $d/a; "#
                + "$m replay $d/a --har $d/b && grep -c startedDateTime $d/b", #"hello{"a":1}2"#),
        Example(
            "$m $u/file --har $d/a.har; head -c -3 $d/a.har > $d/b.har; $m har mend $d/b.har; cat $d/b.har", "1 entries", "]}}"),
        Example(
            "$m $u/redirect --har $d/a.har; $m report $d/a.har; cat $d/a.html; $m report $d/a.har -o - | tail -1",
            "a.html\n<!doctype html>", #""status":302"#, "</html>"),
        Example("$m report $d/none.har", "none.har", status: 1),
        Example("$m $u --otlp $d/t; cat $d/t; $m $u --otlp $u", "resourceSpans", "resourceMetrics", "http.request.method"),
        Example(
            "$m $u/long --har $d/h --otlp $d/t | head -c 1; grep -c startedDateTime $d/h; cat $d/t", "a1\n", "resourceSpans"),
        Example("touch $d/f; $m $u/long --session $d/f/s | head -c 1", "midst: can't write the session"),
        Example("$m $u --otlp http://127.0.0.1:1", "the telemetry wasn't sent"),
        Example("$m $u --otlp $u/old", "the telemetry wasn't sent: "),
        Example("$m http://x/ --unix-socket $d/none --otlp $u/old", "the telemetry wasn't sent: ", "too old", status: 1),
        Example("$m http://x/ -x http://127.0.0.1:1 --otlp $u/old", "the telemetry wasn't sent: ", "too old", status: 1),
        Example(
            "$m $u/file --har $d/a.har; $m replay $d/a.har --otlp $u/old; $m $u/file --replay $d/a.har --otlp $u/old",
            "too old\nmidst: the telemetry wasn't sent: "),
        Example("$m $u/json --expect 'json.a == 1' --expect 200", #"{"a":1}"#),
        Example("$m $u/json --expect 'json.a >= 2'", "json.a >= 2 was expected, and it is 1", status: 1),
        Example("$m $u --expect json.a", "the body isn't JSON", status: 1),
        Example("$m $u --expect nonsense", "--expect is a status", status: 2),
        Example(
            #"echo '{"url":"'$u'/json","id":7}' | $m batch --jobs 2 --rate 1000; echo '{' >$d/b; $m batch $d/b"#,
            #"{"body":{"a":1},"#, #""id":7,"line":1,"#, "the line isn't a request", status: 1),
        Example(
            #"echo '{"url":"'$u'/echo","body":[12345678901234567,1.1]}' | $m batch"#, #"[12345678901234567,1.1]"#),
        Example(#"echo '{"url":"'$u'/echo","method":"mkList"}' | $m batch"#, "mkList /echo"),
        Example(
            #"printf '{"url":"%s/json"}\n{"url":"%s/caf\351"}\n' $u $u | $m batch"#, #""line":1,"#,
            #"{"error":"the line isn't text in UTF-8","line":2}"#, status: 1),
        Example(#"$m $u -o "$d/$(printf 'caf\351')""#, "a word of the command isn't text in UTF-8", status: 2),
        Example("$m $u --har $d/a.har; mv $d/a.har $d/a.html; $m report $d/a.html", "would replace the archive", status: 2),
        Example(
            "$m $u --har $d/a.har; ln -s $d/a.har $d/l; $m report $d/a.har -o $d/l; $m simulate $d/a.har -o $d/a.har",
            "would replace the archive: -o says where it goes\nTry 'midst --help'.\nmidst: the page would replace", status: 2),
        Example(
            """
            $m $u --har $d/a.har; ln -s $d/page $d/l; $m report $d/a.har -o $d/l; test -h $d/l && cat $d/page
            mkfifo $d/p; exec 3<>$d/p; $m report $d/a.har -o $d/p; test -p $d/p && printf 'piped: ' && head -c 15 <&3
            """, "</html>", "piped: <!doctype html>"),
        Example("$m $u/sse --sse --expect json.a", "not for --sse", status: 2),
        Example("$m $u/sse --sse --explain", "Accept: text/event-stream", "Cache-Control: no-store"),
        Example("$m $u/sse --sse Accept:a/b --curl", "Accept: a/b", "Cache-Control: no-store"),
        Example("$m $u/sse --sse --trace -o $d/x", "-o FILE is for an answer, not for --sse", status: 2),
        Example("$m ws $u/socket --trace -o $d/x", "-o FILE is for an answer, not for 'midst ws'", status: 2),
        Example(
            #"(printf '{"log":{"entries":['; for i in 10 11 12 13 14 15 16 17 18 19; do "#
                + #"printf '%s{"startedDateTime":"2026-01-01T00:00:%sZ","time":90,"request":{"url":"http://h/"},"timings":{"wait":90},"#
                + #""response":{"status":200}}' "$c" $i; c=,; done; printf ']}}') >$d/s; "#
                + "$m simulate $d/s --slower 3 --for 2 -o - >$d/s.html; cat $d/s.html",
            "the recorded calls, repeated after 10 s, 1 a second", "for 2 s the server is 3 times slower", "Resilience.standard",
            "</html>"),
        Example("$m $u --har $d/a.har; $m simulate $d/a.har", "too few exchanges", status: 2),
        Example(
            #"echo '{"url":"'$u'/json"}' | $m batch --otlp $d/t --har $d/h --expect 'json.a == 2'; cat $d/t $d/h"#,
            "json.a == 2 was expected, and it is 1", "resourceSpans", #""version":"1.2""#),
        Example(
            #"(printf '{"url":"%s/json","body":"' $u; head -c 2000000 /dev/zero | tr '\0' a; "#
                + #"printf '"}\n{"url":"%s/json"}\n' $u; head -c 68000000 /dev/zero) | $m batch --jobs 1"#,
            #""line":1,"#, #""line":2,"#, #"{"body":{"a":1},"#, #"isn't read","line":3}"#, status: 1),
        Example(
            """
            cat > $d/reset.py <<'END'
            import socket, subprocess, sys
            (here, there) = socket.socketpair()
            here.send(b'{"url":"%s/json"}\\n' % sys.argv[2].encode())
            # What hasn't been read when this end closes resets the other one.
            there.send(b"unread")
            here.close()
            print("status", subprocess.run([sys.argv[1], "batch", "--har", sys.argv[3]], stdin=there).returncode)
            END
            python3 $d/reset.py $m $u $d/h; grep -c startedDateTime $d/h
            """, #"{"body":{"a":1},"#, "can't read the input", "status 1\n1\n"),
        Example(
            #"printf '{"url":"%s/deep"}\n{"url":"%s/json"}\n' $u $u | $m batch --jobs 1"#, #"{"body":"[[["#, #"{"body":{"a":1},"#),
        Example(
            #"(for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf '{"url":"%s/long"}\n' $u; done) | $m batch --jobs 8 | "#
                + "python3 -c 'import json, sys; print(len([json.loads(line) for line in sys.stdin]), \"replies are whole\")'",
            "12 replies are whole"),
        Example(
            #"echo '{"url":"'$u'/json"}' | $m batch --expect 404"#, "200 OK came where 404 was expected", status: 1),
        Example(#"echo '{"url":"'$u'/status/404"}' | $m batch --expect 404"#, #""status":404"#),
        Example("$m replay $d/a --send --bearer T", "takes credentials as header fields", status: 2),
        Example("$m replay $d/a --digest", "takes credentials as header fields", status: 2),
        Example("$m replay $d/a -d x", "-d is for one request, not for 'midst replay'", status: 2),
        Example(
            #"echo '{"url":"'$u'/cookies"}' | $m batch"#, #""Set-Cookie":"a=b; Expires=Wed, 01 Jan 2098 00:00:00 GMT\nc=d""#),
        Example(#"echo '{"url":"'$u'/alike"}' | $m batch"#, #"":"1, 1""#, #""status":200"#),
        Example("$m batch --trace", "--trace is for one request", status: 2),
        Example("$m batch -u a:b", "as header fields", status: 2), Example("$m $u --rate 3", "for 'midst batch'", status: 2),
        Example(
            #"$m from-curl "curl $u/echo -H 'A: b' --data-raw '{}' --compressed -L""#, "/echo -H 'A: b' -d '{}' -H 'Content-Type"),
        Example("$m from-curl curl -u a:b $u", "the command is 'midst from-curl \"curl …\"'", status: 2),
        Example("$m from-curl 'curl --ftp-port x'", "midst has nothing for curl's --ftp-port", status: 2),
        Example("$m $u/status/404 --expect 404"), Example("$m $u --expect 404", "expected", status: 1),
        Example("$m $u/status/404 --check-status", status: 4),
        Example("$m $u/slow --timeout 0.2", "timeout", status: 1), Example("$m $u/slow -m 0.2", "deadline", status: 1),
        Example("$m $u/slow --deadline 0.2 --check-status", "deadline", status: 7),
        Example("$m $u/flaky --retries 2", "GET /flaky"), Example("$m $u/redirect --no-redirects -i", "302"),
        Example("$m $u --standard --hedge", "GET /"), Example("$m $u/flaky --standard", "GET /flaky"),
        Example("$m $u --standard --explain", "3 retries, "), Example("$m $u --standard --retries 0 --explain", "0 retries, "),
        Example("$m $u --connect-timeout 120 --http1.1 --transport wire", "GET /"),
        Example("$m $u --http3 --transport wire", "GET /"), Example("$m $u -x http://u:12/3@h", "a proxy is written", status: 2),
        Example(
            "$m http://x/ -x HTTP://127.0.0.1:1; $m http://x/ -x SOCKS5H://127.0.0.1:1", "the proxy 127.0.0.1 port 1", status: 1),
        Example("$m http://name.test:$p/ --resolve name.test:$p:127.0.0.1", "Host: name.test"),
        Example("$m $u --transport other -k", "there is no transport 'other' here", status: 2),
        Example("$m $u --transport urlsession -k", "need the curl transport or the wire", status: 2),
        Example("$m --version", "midst 0.1.0"), Example("$m -h; $m --help; $m help", "usage: midst"),
        Example("$m $u --unknown", "unknown option --unknown", status: 2), Example("$m $u -vX", "needs a value", status: 2),
    ]

    /// These take servers of another kind.
    private static let examplesWithNginx = [
        Example("$m $MIDSTREAM_NGINX_HTTPS/page --ca $MIDSTREAM_CA -o $d/x"),
        Example("cat $MIDSTREAM_CA | $m $MIDSTREAM_NGINX_HTTPS/page --ca /dev/stdin -o $d/x"),
        Example("SSL_CERT_FILE=$MIDSTREAM_CA $m $MIDSTREAM_NGINX_HTTPS/page -o $d/x"),
        Example("$m $MIDSTREAM_NGINX_HTTPS/page", "tls", status: 1),
        Example("$m $MIDSTREAM_NGINX_HTTPS/page -k -o $d/x --otlp $MIDSTREAM_NGINX_HTTPS", "the telemetry wasn't sent: ", "tls"),
        Example(
            "$m $MIDSTREAM_NGINX_HTTPS/page -k -i --http2; $m $MIDSTREAM_NGINX_HTTPS/page --insecure -i --http1.1", "HTTP/2 ",
            "HTTP/1.1 "),
        Example(
            "$m $MIDSTREAM_NGINX_HTTPS/page -k -i --http3 --transport wire --trace", "HTTP/2 ", "HTTP/3 isn't spoken: the wire"),
        Example(
            "$m $u -x $MIDSTREAM_HTTP_PROXY_OPEN; $m $u --proxy socks5://$MIDSTREAM_PROXY_USER:$MIDSTREAM_PROXY_PASSWORD@${MIDSTREAM_SOCKS_PROXY#socks5://}",
            "GET /"),
        Example("$m http://anything/page --unix-socket $MIDSTREAM_NGINX_SOCKET -i", "nginx"),
        Example(
            """
            $m $MIDSTREAM_NGINX_MTLS/page --ca $MIDSTREAM_CA --cert $MIDSTREAM_CLIENT_CERT --key $MIDSTREAM_CLIENT_KEY -w '%{http_code}' \
            -o $d/x
            """, "200"),
    ]

    private func answer(_ request: RecordedRequest) async throws -> MockServer.Response {
        let text: HTTPHeaders = [.contentType: "text/plain", "X": "echo"]
        switch request.path {
        case "/slow": try await untilCancelled()
        case "/status/404": return .init(status: .notFound, body: "not here")
        case "/json": return .init(headers: [.contentType: "application/json"], body: .chunked([Array(#"{"a":1}"#.utf8)]))
        case "/deep":
            let (beginning, end) = (String(repeating: "[", count: 511), String(repeating: "]", count: 511))
            return .init(headers: [.contentType: "application/json"], body: .text(beginning + end))
        case "/long":
            return .init(
                headers: [.contentType: "text/plain", .setCookie: "a=b"], body: .text(String(repeating: "a", count: 1_000_000)))
        case "/rows": return .init(headers: [.contentType: "application/x-ndjson"], body: "{\"a\":1}\n{\"a\":2}\n")
        case "/old/v1/traces":
            return .init(body: #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#)
        case "/file": return .init(headers: [.contentType: "text/plain", "ETag": "\"1\""], body: "hello")
        case "/redirect": return .init(status: .found, headers: ["Location": "/echo"])
        case "/cookie": return .init(headers: [.setCookie: "a=b"])
        case "/cookies":
            return .init(headers: [.setCookie: "a=b; Expires=Wed, 01 Jan 2098 00:00:00 GMT", .setCookie: "c=d"])
        case "/alike":
            // The second K is the sign of the kelvin.
            let head = "HTTP/1.1 200 OK\r\nX-K: 1\r\nX-\u{212A}: 1\r\nContent-Length: 0\r\n\r\n"
            return .init(fault: .garbage(Array(head.utf8)))
        case "/sse" where request.headers["Last-Event-ID"] == nil:
            return .init(headers: [.contentType: "text/event-stream"], body: "event: x\ndata: 1\n\nretry: 1\nid: 7\ndata: 2\n\n")
        case "/socket": return .webSocket { try await $0.echo() }
        case "/sse": return .init(status: .noContent)
        case "/flaky" where server.requests.filter { $0.path == "/flaky" }.count == 1: return .init(status: 503)
        case "/digest" where request.headers[.authorization] == nil:
            return .init(status: .unauthorized, headers: [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth""#])
        case "/tus" where request.method == .post: return .init(status: .created, headers: ["Location": "/tus/1"])
        case "/tus/1": return .init(status: .noContent, headers: ["Upload-Offset": "\(request.body.count)"])
        default: break
        }
        let fields = request.headers.map { "\($0.name): \($0.value)\n" }.joined()
        return .init(headers: text, body: .text("\(request.method) \(request.target)\n\(fields)\n\(request.text)"))
    }

    private func run(_ example: Example) async throws {
        defer { server.shutdown() }
        server.respond { try await answer($0) }
        let port = try #require(URLComponents(string: server.url())?.port)
        let setting = "m=\(try #require(Tool.path)) u=http://127.0.0.1:\(port) p=\(port) d=\(folder.url.path)"
        let child = try await ChildProcess.run("/bin/sh", ["-c", "\(setting)\n\(example.line)"])
        let printed = child.text + child.errorText
        #expect(child.status == .exited(example.status), "\(printed)")
        for text in example.expected { #expect(printed.contains(text), "\(printed)") }
    }

    @Test("does what the help says", .enabled(if: Tool.path != nil), arguments: examples)
    fileprivate func works(example: Example) async throws { try await run(example) }

    @Test(
        "works with real servers",
        .enabled(if: Tool.path != nil && ProcessInfo.processInfo.environment["MIDSTREAM_NGINX_MTLS"] != nil),
        arguments: examplesWithNginx)
    fileprivate func worksWithNginx(example: Example) async throws { try await run(example) }

    #if Wire && os(Linux)
        @Test("that sends lines on a socket says so where it can't send them all", .enabled(if: Tool.path != nil))
        func socketInput() async throws {
            try await run(
                Example(
                    "(echo first; head -c 2000000 /dev/zero) | timeout 60 $m ws $u/socket --transport wire", "first\n",
                    "bodyTooLarge", status: 1))
        }

        @Test("that sends lines on a socket sends none that isn't text", .enabled(if: Tool.path != nil))
        func socketBytes() async throws {
            try await run(
                Example(
                    #"(echo first; printf 'caf\351\n') | timeout 60 $m ws $u/socket --transport wire"#, "first\n",
                    "isn't text in UTF-8", status: 1))
        }

        @Test(
            "has a SOCKS proxy look names up where curl has it do so", .enabled(if: Tool.path != nil),
            arguments: [("socks5", [1, 4]), ("socks5h", [3])] as [(String, [UInt8])])
        func socksProxy(_ scheme: String, _ kinds: [UInt8]) async throws {
            let told = Locked<[UInt8]>([])
            let proxy = try RawServer { connection in
                guard connection.read(3) == [5, 1, 0] else { return }
                connection.write([5, 0])
                guard let start = connection.next(5) else { return }
                told.withLock { $0.append(start[3]) }
                // An address of IPv4 or IPv6, or a name after its length; then the port.
                let length = [1: 4, 3: 1 + Int(start[4]), 4: 16][start[3]] ?? 0
                guard connection.read(4 + length + 2) != nil else { return }
                connection.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nby a proxy\n")
            }
            try await run(Example("$m http://localhost/ -x \(scheme)://127.0.0.1:\(proxy.port)", "by a proxy"))
            let kind = told.withLock { $0.first }
            #expect(kind.map { kinds.contains($0) } == true)
        }
    #endif

    @Test("connects to an IPv6 address without brackets", .enabled(if: Tool.path != nil))
    func resolvesToIPv6() async throws {
        guard let other = try? MockServer(family: .ipv6) else { try Test.cancel("There is no IPv6 here.") }
        defer { other.shutdown() }
        other.enqueue(.init(body: "by IPv6"))
        try await run(Example("$m http://name.test:\(other.port)/ --resolve name.test:\(other.port):::1", "by IPv6"))
    }

    #if !Curl
        @Test("that takes libcurl says so where there is none", .enabled(if: Tool.path != nil))
        func withoutLibcurl() async throws {
            try await run(Example("$m $u --http3", "the package trait Curl", status: 2))
        }
    #endif

    @Test("is in an example here, under each of its names, which are nobody else's")
    func completeness() {
        let words = Set(
            (Self.examples + Self.examplesWithNginx).flatMap { $0.line.split { " ;\n".contains($0) }.map(String.init) })
        let names = Option.all.flatMap(\.names)
        for name in names { #expect(words.contains(name), "\(name)") }
        #expect(Set(names).count == names.count)
    }
}
