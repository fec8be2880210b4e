internal import Foundation

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
        guard !values.isEmpty else { return }
        let start = (style == .brackets ? "\(name)[]" : name).percentEncoded + "="
        let separator = style == .commas ? "," : "&\(start)"
        let list = values.map { String($0).percentEncoded }.joined(separator: separator)
        // At once, since the whole URL is read and written for each.
        urlText = URLText.adding(query: start + list, to: urlText)
    }

    /// Adds the items of a dictionary to the query, in the order of their names, so that the URL is the same each time; those without a value
    /// are left out.
    @_disfavoredOverload
    public mutating func addQuery(_ items: [String: (any LosslessStringConvertible)?]) {
        for (name, value) in items.sorted(by: { $0.key < $1.key }) { addQuery(name, value.map { String(describing: $0) }) }
    }

    /// Adds the fields of a value to the query, sorted by name: of a structure or a dictionary whose values are texts, numbers, truth values,
    /// dates (ISO 8601), arrays of these, or nil, which is left out.
    ///
    /// ```swift
    /// struct Page: Encodable { var after: String?; var limit = 100; var tags: [String] = [] }
    /// try request.addQuery(encoding: Page(tags: ["new", "red"]))        // ?limit=100&tags=new&tags=red
    /// ```
    ///
    /// - Throws: ``HTTPError/Code/invalidRequest`` for a value without names, or with values within values; what the value throws.
    public mutating func addQuery(encoding value: some Encodable, as style: QueryArrayStyle = .repeated) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let data = try encoder.encode(value)
        guard let fields = try? JSONDecoder().decode([String: QueryField].self, from: data) else {
            throw HTTPError(.invalidRequest, "A query is made of names with texts, numbers or arrays of them.", phase: .notSent)
        }
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
            switch field {
            case .value(let value): addQuery(name, value.text)
            case .array(let values): addQuery(name, values.compactMap(\.text), as: style)
            }
        }
    }
}

private enum QueryField: Decodable {
    case value(QueryValue)
    case array([QueryValue])

    init(from decoder: any Decoder) throws {
        if let values = try? [QueryValue](from: decoder) {
            self = .array(values)
        } else {
            self = .value(try QueryValue(from: decoder))
        }
    }
}

private struct QueryValue: Decodable {
    /// nil: none.
    let text: String?

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            text = nil
        } else if let flag = try? value.decode(Bool.self) {
            text = String(flag)
        } else if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *),
            let number = try? value.decode(Decimal.self), !number.isNaN
        {
            // As an integer or a floating-point number it might be another one. Older systems write 1.1 with more digits than it has.
            text = number.description
        } else if let number = try? value.decode(Int64.self) {
            text = String(number)
        } else if let number = try? value.decode(UInt64.self) {
            text = String(number)
        } else if let number = try? value.decode(Double.self) {
            text = String(number)
        } else {
            text = try value.decode(String.self)
        }
    }
}
