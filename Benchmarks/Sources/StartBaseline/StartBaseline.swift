import Foundation

/// Loads what `midst` is made on, Swift's libraries, Foundation and libcurl, and does nothing with them: what of its start isn't its own.
@main
enum StartBaseline {
    static func main() { print(URL(string: "http://example.com/")?.host ?? "") }
}
