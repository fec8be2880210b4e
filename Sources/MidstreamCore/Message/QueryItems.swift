extension HTTPRequest {
    /// How several values of one name are written in a query.
    public enum QueryArrayStyle: Sendable, Hashable {
        /// `tag=a&tag=b`
        case repeated
        /// `tag[]=a&tag[]=b`, the brackets percent-encoded.
        case brackets
        /// `tag=a,b`; a comma in a value is percent-encoded.
        case commas
    }

    /// Adds the values of an array to the query, in order and percent-encoded; none for an empty one.
    ///
    /// - Parameter style: How they are written; each with the name by default.
    public mutating func addQuery(
        _ name: String, _ values: [some LosslessStringConvertible], as style: QueryArrayStyle = .repeated
    ) {
        let values = values.map { String($0) }
        switch style {
        case .repeated: for value in values { addQuery(name, value) }
        case .brackets: for value in values { addQuery("\(name)[]", value) }
        case .commas:
            guard !values.isEmpty else { return }
            let list = values.map(\.percentEncoded).joined(separator: ",")
            urlText = URLText.adding(query: "\(name.percentEncoded)=\(list)", to: urlText)
        }
    }

    /// Adds the items of a dictionary to the query, in the order of their names, so that the URL is the same each time; those without a value
    /// are left out.
    @_disfavoredOverload
    public mutating func addQuery(_ items: [String: (any LosslessStringConvertible)?]) {
        for (name, value) in items.sorted(by: { $0.key < $1.key }) { addQuery(name, value.map { String(describing: $0) }) }
    }
}
