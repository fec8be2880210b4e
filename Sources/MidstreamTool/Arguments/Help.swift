extension Arguments {
    static let versionNumber = "0.1.0"

    static let help = """
        usage: midst [METHOD] URL [ITEM…] [options]

        METHOD is get, head, post, put, patch, delete, options or any other method; without it
        GET, or POST with a body. An ITEM is a part of the request:

          NAME=TEXT  NAME:=JSON  a field of the body, as JSON: a[b]=1 and a[]=1 nest
          NAME=@FILE NAME:=@FILE the same from a file
          NAME@FILE              a file in a multipart form
          NAME==VALUE            a query item
          NAME:VALUE             a header field

          -X, --request METHOD         the method, as curl has it
          -H, --header 'NAME: VALUE'   add a header field; may be repeated
          -q, --query NAME=VALUE       add a query item; may be repeated
          -d, --data TEXT              send this body; several are joined by &
              --json TEXT              send this body, as application/json
          -f, --form                   send the items as a form, not as JSON
          -F, --multipart NAME=TEXT    add a field, or with =@FILE a file, to a multipart form
          -u, --user USER:PASSWORD     authenticate (Basic)
              --digest                 authenticate by Digest
              --bearer TOKEN           authenticate by this token
          -o, --output FILE            write the response's body to a file
          -C, --resume                 continue a file that an earlier run has begun
              --sha256 DIGEST          keep a file of this digest alone
          -i, --include                print the response's head before the body
          -v, --verbose                print what goes on the wire and comes back; secrets withheld
              --trace                  show the pipeline, stage by stage, with times
              --explain                show what would be sent, and send nothing
              --curl                   show the same request as a curl command, and send nothing
              --har FILE               record what goes on the wire (HAR 1.2); secrets withheld
              --replay FILE            answer from such a file, and send nothing
              --expect STATUS          fail unless the response has this status
              --check-status           tell classes of failures by the exit status
              --color, --no-color      colour, or none, wherever output goes
              --raw                    print the body as it came, also on a terminal
              --timeout SECONDS        limit one attempt (60)
              --deadline SECONDS       limit the whole call
              --retries N              retry up to N times (0)
              --no-redirects           don't follow redirects
              --standard               retries, limits and a breaker as Resilience.standard has them
              --hedge                  ask a second time when an answer takes unusually long
              --ca FILE                trust the authorities in this file, too (PEM)
              --insecure               don't check certificates
              --proxy URL              go through this proxy (http://… or socks5://…)
              --unix-socket PATH       connect to this socket
              --cert FILE, --key FILE  show this certificate; the key may be in the same file (PEM)
              --resolve HOST:PORT:ADDRESS  connect to this address for that host and port
              --connect-timeout SECONDS    limit connecting (30)
              --http1.1, --http2       speak this version; HTTP/2 from the first byte
              --transport NAME         curl (on Linux) or urlsession
              --version, --help

        The URL and any value may be @FILE, which is read, or once @-, which is standard input:
        arguments can be seen by other users, so give secrets in this way.

        Exit status: 0 a response below 400, 1 another response or none, 2 wrong usage; with
        --check-status 3, 4 or 5 by the first digit of the response's, 6 no answer, 7 too late.
        """
}
