extension Arguments {
    static let versionNumber = "0.1.0"

    static let help = """
        usage: midst [METHOD] URL [ITEM…] [options]
               midst ws URL [ITEM…] [options]
               midst replay FILE [--send] [options]
               midst batch [FILE] [--jobs N] [--rate N] [options]
               midst simulate FILE [--slower FACTOR] [--for SECONDS] [--rate N] [-o PAGE]
               midst from-curl 'curl …'
               midst har mend FILE
               midst report FILE

        METHOD is get, head, post, put, patch, delete, options or any other method; without it
        GET, or POST with a body. An ITEM is a part of the request:

          NAME=TEXT  NAME:=JSON  a field of the body, as JSON: a[b]=1 and a[]=1 nest
          NAME=@FILE NAME:=@FILE the same from a file
          NAME@FILE              a file in a multipart form
          NAME==VALUE            a query item
          NAME:VALUE             a header field

        \(Option.all.map(\.line).joined(separator: "\n"))

        The URL and any value may be @FILE, which is read, or once @-, which is standard input:
        arguments can be seen by other users, so give secrets in this way.

        Exit status: 0 a response below 400, 1 another response or none, 2 wrong usage; with
        --check-status 3, 4 or 5 by the first digit of the response's, 6 no answer, 7 too late.
        """
}
