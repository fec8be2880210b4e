internal import MidstreamCore

extension URLText {
    /// The URL of what is signed: without the items that say by whom and for which time, which are others each time that it is presigned.
    static func withoutPresigning(_ url: String) -> String {
        let names = Set(URLText(url).items.map(name))
        let unwanted = presigningItems.filter { names.isSuperset(of: $0.key) }.reduce(into: Set<String>()) {
            $0.formUnion($1.value)
        }
        return unwanted.isEmpty ? url : removing(from: url) { unwanted.contains(name(of: $0)) }
    }

    private static func name(of item: Substring) -> String {
        Substring(item.utf8.prefix { $0 != UInt8(ascii: "=") }).lowercased()
    }

    /// By the item that holds a signature, those that come with it: many of their names mean something else in other queries.
    private static let presigningItems: [Set<String>: Set<String>] = [
        ["x-amz-signature"]: [
            "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-signedheaders", "x-amz-signature",
            "x-amz-security-token",
        ],
        ["x-goog-signature"]: [
            "x-goog-algorithm", "x-goog-credential", "x-goog-date", "x-goog-expires", "x-goog-signedheaders", "x-goog-signature",
        ],
        // Azure, where a key that signs has a time of its own.
        ["sig", "sv"]: ["sig", "st", "se", "skt", "ske"],
        // The older ones of AWS and Google, and CloudFront.
        ["signature"]: ["signature", "expires", "policy"],
    ]
}
