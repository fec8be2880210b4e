import Midstream
import TestSupport
import Testing

@testable import MidstreamTool

@Suite("Commands of curl's as commands of midst's")
struct FromCurlTests {
    @Test(
        "send the same",
        arguments: [
            ("curl -L https://h/", "midst https://h/"), ("curl h", "midst http://h --no-redirects"),
            ("curl -LI https://h", "midst https://h -Xhead -i"), ("curl -Li https://h", "midst https://h -i"),
            ("curl -LI https://h -o /dev/null", "midst https://h -Xhead -o /dev/null"),
            ("curl -LIo - https://h", "midst https://h -Xhead -o - -i"),
            ("curl -LX PURGE -I https://h", "midst https://h -Xhead -X PURGE -i"),
            ("https://h/ -L -XPUT -H 'A: b c'", "midst https://h/ -X PUT -H 'A: b c'"),
            (
                "curl -L https://h -d a=1 -d b=2",
                "midst https://h -d a=1 -d b=2 -H 'Content-Type: application/x-www-form-urlencoded'"
            ),
            (
                "curl -L https://h -H 'content-type: text/plain' --data-raw hi",
                "midst https://h -H 'content-type: text/plain' -d hi"
            ),
            ("curl -L https://h --http3", "midst https://h --http3"),
            ("curl -LG https://h -d a=1%202", "midst 'https://h?a=1%202'"),
            ("curl -GL https://h?b --data-urlencode 'a=1 2/ä' -d c", "midst 'https://h?b&a=1%202%2F%C3%A4&c'"),
            (
                "curl -L https://h --data-urlencode =a=b --data-urlencode 'c d'",
                "midst https://h -d a%3Db -d c%20d -H 'Content-Type: application/x-www-form-urlencoded'"
            ), ("curl -L https://h -F a=@b", "midst https://h -F a=@b"),
            ("curl -sSL https://h", "midst https://h -s"), ("curl -sf h", "midst http://h -s --no-redirects"),
            ("curl -L --url=https://h -b a=b -A me -e r", "midst https://h -H 'User-Agent: me' -H 'Referer: r' -H 'Cookie: a=b'"),
            ("curl -L h -A a -H 'User-Agent: b'", "midst http://h -H 'User-Agent: b'"),
            ("curl -L h -A '' -H 'User-Agent: b' -e ''", "midst http://h -H 'User-Agent: b'"),
            ("curl -L h -F token==abc -F a:b=c", "midst http://h -F token==abc -F a:b=c"),
            ("curl -L h -A a -A b -e c -H referer:d", "midst http://h -H referer:d -H 'User-Agent: b'"),
            ("curl -L https://h -b a=b -b 'c=d; e=f'", "midst https://h -H 'Cookie: a=b; c=d; e=f'"),
            ("curl -L https://h -b a=b -H 'cookie: c=d'", "midst https://h -H 'cookie: c=d'"),
            ("curl -LG 'https://h/a#b?c' -d d=e", "midst 'https://h/a?d=e#b?c'"),
            (#"curl -L https://h --form 'a="x; \"y\""'"#, #"midst https://h -F 'a="x; \"y\""'"#),
            (#"curl -L https://h --form 'a=@"b c"' -F 'd="e'"#, #"midst https://h -F 'a=@"b c"' -F 'd="e'"#),
            (#"curl -L h -F 'a=@b;type=c/d;filename=' -F 'f="@g"'"#, #"midst http://h -F 'a=@b;type=c/d;filename=' -F 'f="@g"'"#),
            (
                "curl -L https://h -d @a -H 'Content-Type: application/json'",
                "midst https://h -H 'Content-Type: application/json' -d @a"
            ),
            (
                "curl -L https://h -d @a -H 'Content-Type: application/hal+json; charset=utf-8'",
                "midst https://h -H 'Content-Type: application/hal+json; charset=utf-8' -d @a"
            ),
            (
                "curl -L https://h --data-binary @a",
                "midst https://h -d @a -H 'Content-Type: application/x-www-form-urlencoded'"
            ),
            ("curl -L https://h --compressed -H 'Accept-Encoding: gzip, br' -H A:b", "midst https://h -H A:b"),
            ("curl -L https://h -H 'Accept-Encoding: gzip, br' -H A:b", "midst https://h -H A:b -H 'Accept-Encoding: gzip, br'"),
            ("curl -L https://h -H 'Expect: ' -H 'X-Empty;'", "midst https://h -H X-Empty:"),
            ("curl -L https://h --header Content-Type: --data-raw a", "midst https://h -d a"),
            ("curl -L https://h --json '{}'", "midst https://h --json '{}' -H 'Accept: application/json'"),
            ("curl -L https://h --json '{}' -H accept:a/b", "midst https://h --json '{}' -H accept:a/b"),
            ("curl -L https://h/d/ -T 'a/b c'", "midst https://h/d/b%20c -T 'a/b c'"), ("curl -LT a h", "midst http://h/a -T a"),
            ("curl -L https://h/d -T a", "midst https://h/d -T a"), ("curl -L https://h/ -T -", "midst https://h/ -T -"),
            ("curl -L https://h/?a -T b", "midst 'https://h/?a' -T b"),
            ("curl -L --header 'A: b' ws://h/feed", "midst ws ws://h/feed -H 'A: b'"),
            ("curl -L 'h/a?b=https://c/'", "midst 'http://h/a?b=https://c/'"),
            (#"curl -L 'https://h/a?b\[\]=\{c\}'"#, "midst 'https://h/a?b[]={c}'"),
            (#"curl -L $'https://h/\u0021?a\[\]=b'"#, "midst 'https://h/!?a[]=b'"),
            ("curl -gL 'https://h/?a[0]={b}'", "midst 'https://h/?a[0]={b}'"),
            ("curl -L 'http://[::1]:8080/?a[]=b'", "midst 'http://[::1]:8080/?a[]=b'"),
            ("curl -L h -x proxy:3128", "midst http://h -x http://proxy:3128"),
            ("curl -L h -x ''", "midst http://h"),
            ("curl -L h -x socks5://p:1 -w @f", "midst http://h -x socks5://p:1 -w @f"),
            ("curl -Lm 10 h", "midst http://h -m 10"), ("curl -Lm 10 h --retry 0", "midst http://h --retries 0 -m 10"),
            ("curl -m 9 -L h --retry 5 --max-time 10", "midst http://h --retries 5 --timeout 10"),
            ("curl WSS://h", "midst ws WSS://h --no-redirects"),
            ("curl -L --path-as-is https://h/a/../b", "midst https://h/a/../b"),
            ("curl -L https://h --aws-sigv4 aws:amz:eu:s3 --retry 3", "midst https://h --aws-sigv4 eu:s3 --retries 3"),
            (#"curl -L $'https://h/\e7' -H $'A:\e[8m'"#, #"midst $'https://h/\0337' -H $'A:\033[8m'"#),
            ("curl -L https://h -H $'A: \\'\u{301}; b'", "midst https://h -H 'A: '\\''\u{301}; b'"),
        ])
    func same(curl: String, midst: String) throws { #expect(try FromCurl.command(curl) == midst) }

    @Test(
        "are refused where midst can't do it",
        arguments: [
            "curl", "curl a b", "curl h --data-raw @x", "curl h --ftp-port 3", "curl h -b cookies.txt", "curl 'h",
            "curl h --data-urlencode a@b", "curl h -F 'a=@b;type=c'", "curl -G h -d @a",
            "curl h -F 'a=<b'", "curl h -d @a", "curl h -d a=b --data-ascii @-", "curl h -d @a -H Content-Type:text/plain",
            "curl h -H 'User-Agent: '", "curl h -A a -H user-agent:", "curl h -A ''", "curl h -A a -A ''", "curl h -H Accept:",
            "curl h --compressed -H 'accept-encoding: '", "curl h -H Host:", "curl -G h --json 1", "curl -G h -F a=b",
            "curl -GT a h",
            "curl h -d @a -H Content-Type:application/x-ndjson", "curl h -d @a -H Content-Type:application/jsonl",
            #"curl h -F 'a="b";type=c'"#, "curl h -F 'a=b;c'", "curl h -F a=@b,c", "curl h -F 'a=@b;headers=c'",
            #"curl h -d $'\ud83d'"#, #"curl h -d $'\ude00\ud83d'"#,
            #"curl h -d $'\u0000a'"#, #"curl h -d $'a\0'"#,
            "curl h --aws-sigv4 aws:amz", "curl h --aws-sigv4 aws:amz:eu", "curl h --aws-sigv4 goog:goog4:eu:s3",
            "curl h -H \"A: $K\"", "curl h/$K", "curl h -d \"$(cat x)\"", "curl \"h/`x`\"",
            "curl h --cacert ~/ca.pem", "curl \"h/$1\"", "curl h -d \"p=$100\"", "curl h -d \"$*$#\"", "curl h -d \"p=$$9\"",
            "curl h|jq", "curl h -F 'a=(b'",
            "curl 'h'&b=2", "curl h;", "curl h>out", "curl h<in",
            "curl h -u @ann:pw", "curl h -o @a", "curl h -I -o a", "curl h -i -o a", "curl h/[1-3]", "curl 'h?a={b,c}'",
            "curl ^\"https://h/^\"", "curl \"https://h/\" ^\r\n  -H \"A: b\" ^\r\n  --compressed",
            #"curl "https://h" -H "A: b" --data-raw "{""id"":""x""}""#,
        ])
    func refused(curl: String) { #expect(throws: UsageError.self) { try FromCurl.command(curl) } }

    @Test(
        "are split as shells do",
        arguments: [
            ("a  b\\tc", ["a", "btc"]), ("'a b'c \"d \\\" e\"", ["a bc", "d \" e"]), ("a \\\n b", ["a", "b"]),
            ("'' \"\"", ["", ""]),
            (#"$'it\'s\n\u0041\x42'"#, ["it's\nAB"]), (#"$'a\ud83d\ude00b'"#, ["a😀b"]), ("", []),
            (#"$'a\[\\\"'"#, [#"a\[\""#]), (#"$'\xc3\xa9\303\251\u00e9\U1f600'"#, ["ééé😀"]),
            (#"$'\xe9\u20ac'"#, ["é€"]), (#"$'\a\b\e\E\f\v\cA\0501'"#, ["\u{7}\u{8}\u{1B}\u{1B}\u{C}\u{B}\u{1}(1"]),
            (#"$'\u+041\xg\u\8'"#, [#"\u+041\xg\u\8"#]),
            ("'\u{301}a b' \"\u{301}\\\"\u{301}\"", ["\u{301}a b", "\u{301}\"\u{301}"]), ("a\\\r\nb\r\nc", ["ab", "c"]),
            (#"'$a|`b`' "\$a 5$" \$a"#, ["$a|`b`", "$a 5$", "$a"]),
            (#"'~' a~ \~/b "~;|<>&" \&"#, ["~", "a~", "~/b", "~;|<>&", "&"]),
            ("$'\u{301}\\'\u{301} \\u0041\u{301}'", ["\u{301}'\u{301} A\u{301}"]),
        ])
    func words(text: String, words: [String]) throws { #expect(try ShellWords.split(text) == words) }

    @Test(
        "are words that shells read as they were, whatever combines with a quotation mark",
        arguments: ["a'\u{301}; echo b", "\"\u{301} $HOME", "\\\u{301}", "a\n'\nb", " \u{301}", ""])
    func quoting(word: String) async throws {
        let child = try await ChildProcess.run("/bin/sh", ["-c", "printf %s \(word.shellQuoted)"])
        #expect(child.output == Array(word.utf8))
        #expect(try ShellWords.split(word.shellQuoted) == [word])
    }

    @Test(
        "have control characters as numbers, which bash reads as they were",
        arguments: ["\u{1B}[2J'!\\1\u{301}", "a\rb", "a\r\n'\r\nb", "\u{9B}8m\u{202E}\u{2028}\t\r\n", "\u{7F}7"])
    func controls(word: String) async throws {
        #expect(word.shellQuoted == word.shellQuoted.escapingControls)
        let child = try await ChildProcess.run("/bin/bash", ["-c", "printf %s \(word.shellQuoted)"])
        #expect(child.output == Array(word.utf8))
        #expect(try ShellWords.split(word.shellQuoted) == [word])
    }
}
