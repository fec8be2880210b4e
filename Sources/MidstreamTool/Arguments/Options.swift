import Midstream

extension Option {
    /// All that there are, in the order of the help.
    static let all =
        request + identity + output + seeing + limits + connection + [
            .flag("--version", "print the version") { $0.command = .version },
            .flag("-h, --help", "print this") { $0.command = .help },
        ]

    /// By their first names: of what a request is made, where it isn't there already.
    static let ofARequest: Set = ["-X", "-q", "-d", "--json", "-f", "-F", "-T", "--tus", "--replay"]

    /// What would have no meaning for many requests, whose answers are lines.
    static let ofOneRequest = ofARequest.union([
        "-o", "-C", "--sha256", "-i", "-w", "--lines", "--sse", "--color", "--no-color", "--raw", "--trace", "--explain",
        "--curl", "--check-status",
    ])

    private static let request: [Option] = [
        .value("-X, --request", "METHOD", "the method; the case of a known one doesn't matter") { $0.givenMethod = $1 },
        .value("-H, --header", "'NAME: VALUE'", "add a header field; may be repeated") { try $0.add(header: $1) },
        .value("-q, --query", "NAME=VALUE", "add a query item; may be repeated") { try $0.add(query: $1) },
        .typedValue("-d, --data", "TEXT", "send this body; several are joined by &") { try $0.add(data: $1) },
        .typedValue("--json", "TEXT", "send this body, as application/json") { try $0.set(json: $1) },
        .flag("-f, --form", "send the items as a form, not as JSON") { $0.encoding = .form },
        .typedValue("-F, --multipart", "NAME=TEXT", "add a field, or with =@FILE a file, to a multipart form") {
            $0.encoding = .multipart
            try $0.items.add(formField: $1)
        },
        .typedValue("-T, --upload", "FILE", "send this file, and go on where it was when that breaks off") { $0.upload = $1 },
        .flag("--tus", "with -T: by the protocol tus") { $0.uploadProtocol = .tus },
        .flag("--compress", "compress the body (gzip)") { $0.isCompressed = true },
    ]

    private static let identity: [Option] = [
        .value("-u, --user", "USER:PASSWORD", "authenticate (Basic); a missing password is asked for") { $0.user = $1 },
        .flag("--digest", "authenticate by Digest") { $0.isDigest = true },
        .value("--bearer", "TOKEN", "authenticate by this token") { $0.bearer = $1 },
        .value("--aws-sigv4", "REGION:SERVICE", "sign for AWS by -u or the environment's keys") { try $0.add(signature: $1) },
        .flag("-n, --netrc", "authenticate as ~/.netrc says") { $0.netrc = Netrc.usualPath },
        .value("--netrc-file", "FILE", "authenticate as this file says") { $0.netrc = $1 },
        .value("--session", "NAME", "keep cookies from run to run under this name") { $0.session = try Session($1) },
    ]

    private static let output: [Option] = [
        .value("-o, --output", "FILE", "write the response's body to a file") { $0.output = $1 },
        .flag("-C, --resume", "continue a file that an earlier run has begun") { $0.isResumed = true },
        .value("--sha256", "DIGEST", "keep a file of this digest alone") { try $0.add(digest: $1) },
        .flag("-s, --silent", "no progress of files on a terminal") { $0.isSilent = true },
        .flag("-i, --include", "print the response's head before the body") { $0.includesHead = true },
        .value("-w, --write-out", "FORMAT", "print this afterwards, as curl has it: %{http_code}, …") {
            $0.summary = try SummaryFormat($1)
        },
        .flag("--lines", "print line by line, each as soon as it is whole") { $0.delivery = .lines },
        .flag("--sse", "print a server's events as lines of JSON, and connect again") { $0.delivery = .events },
        .flag("--color", "colour, wherever output goes") { $0.format.color = true },
        .flag("--no-color", "no colour") { $0.format.color = false },
        .flag("--raw", "print the body as it came, also on a terminal") { $0.format.isRaw = true },
    ]

    private static let seeing: [Option] = [
        .flag("-v, --verbose", "print what goes on the wire and comes back; secrets withheld") { $0.isVerbose = true },
        .flag("--trace", "show the pipeline, stage by stage, with times") { $0.showsTrace = true },
        .flag("--explain", "show what would be sent, and send nothing") { $0.showsExplanation = true },
        .flag("--curl", "show the same request as a curl command, and send nothing") { $0.showsCurlCommand = true },
        .value("--har", "FILE", "record what goes on the wire (HAR 1.2); secrets withheld") { $0.archive = $1 },
        .value("--otlp", "URL", "send spans and metrics to this collector, or write them to a file") { $0.telemetry = $1 },
        .value("--replay", "FILE", "answer from such a file, and send nothing") { $0.replay = $1 },
        .flag("--send", "with 'midst replay': send the requests anew") { $0.sendsAnew = true },
        .value("--expect", "STATUS", "fail unless the response is so: 201, 'json.items[0].id == 7'") {
            try $0.add(expectation: $1)
        },
        .flag("--check-status", "tell classes of failures by the exit status") { $0.checksStatus = true },
    ]

    private static let limits: [Option] = [
        .value("--timeout", "SECONDS", "limit one attempt (60)") { $0.timeout = try Arguments.seconds($1, for: "--timeout") },
        .value("-m, --deadline", "SECONDS", "limit the whole call") {
            $0.deadline = try Arguments.seconds($1, for: "--deadline")
        },
        .value("--retries", "N", "retry up to N times (0)") { $0.givenRetries = try Arguments.count($1, for: "--retries") },
        .flag("--no-redirects", "don't follow redirects") { $0.followsRedirects = false },
        .value("--jobs", "N", "with 'midst batch': so many at a time (4)") {
            $0.jobs = try Arguments.count($1, for: "--jobs", in: 1...1_000)
        },
        .value("--rate", "N", "with 'midst batch': no more than N a second") {
            $0.rate = try Arguments.number($1, for: "--rate")
        },
        .value("--slower", "FACTOR", "with 'midst simulate': so many times slower (20)") {
            $0.slowness = try Arguments.number($1, for: "--slower")
        },
        .value("--for", "SECONDS", "with 'midst simulate': for so long (10)") {
            $0.outage = try Arguments.count($1, for: "--for", in: 1...600)
        },
        .flag("--standard", "retries, limits and a breaker as Resilience.standard has them") { $0.isStandard = true },
        .flag("--hedge", "ask a second time when an answer takes unusually long") { $0.isHedged = true },
    ]

    private static let connection: [Option] = [
        .value("--ca", "FILE", "trust the authorities in this file, too (PEM)") {
            $0.transport.authorities = try ValueSource.bytes(ofFileAt: $1)
        },
        .flag("-k, --insecure", "don't check certificates") { $0.transport.isInsecure = true },
        .value("-x, --proxy", "URL", "go through this proxy (http://… or socks5://…)") { $0.transport.proxy = $1 },
        .value("--unix-socket", "PATH", "connect to this socket") { $0.transport.unixSocket = $1 },
        .value("--cert", "FILE", "show this certificate (PEM)") {
            $0.transport.certificate = try ValueSource.bytes(ofFileAt: $1)
        },
        .value("--key", "FILE", "its key, where that isn't in the same file") {
            $0.transport.key = try ValueSource.bytes(ofFileAt: $1)
        },
        .value("--resolve", "HOST:PORT:ADDRESS", "connect to this address for that host and port") {
            try $0.transport.add(override: $1)
        },
        .value("--connect-timeout", "SECONDS", "limit connecting (30)") {
            $0.transport.connectTimeout = try Arguments.seconds($1, for: "--connect-timeout")
        },
        .flag("--http1.1", "speak HTTP/1.1") { $0.transport.isHTTP1 = true },
        .flag("--http2", "speak HTTP/2 from the first byte") { $0.transport.isHTTP2 = true },
        .flag("--http3", "try HTTP/3, too (libcurl with HTTP/3 on Linux)") { $0.transport.isHTTP3 = true },
        .value("--transport", "NAME", "curl or wire (on Linux), or urlsession") { $0.transport.name = $1 },
    ]
}
