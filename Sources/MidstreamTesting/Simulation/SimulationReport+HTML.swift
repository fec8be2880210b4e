internal import MidstreamCore
internal import MidstreamResilience

extension SimulationReport {
    /// The report as one static page without scripts or links: charts over the seconds, and the table.
    ///
    /// - Parameter title: The page's.
    public func html(title: String = "Simulation") -> String {
        let charts = [
            chart("Goodput", unit: "%", rows.map { $0.goodput * 100 }, most: 100),
            chart("Requests sent for each call", unit: "", rows.map { $0.calls == 0 ? 0 : Double($0.sends) / Double($0.calls) }),
            chart("p99 of the successful calls", unit: "ms", rows.map { ($0.p99 ?? .zero) / .milliseconds(1) }),
            chart("Requests at the server", unit: "", rows.map { Double($0.load) }),
            chart("Limit of the first client", unit: "", rows.map { Double($0.client?.concurrency?.limit ?? 0) }),
        ]
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(title.escaped)</title><style>
            body { font: 14px system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
            svg { display: block; margin-bottom: 1.5em; border-left: 1px solid #888; border-bottom: 1px solid #888 }
            polyline { fill: none; stroke: #06c; stroke-width: 1.5 }
            </style></head><body><h1>\(title.escaped)</h1>
            \(charts.joined(separator: "\n"))
            <pre>\(description.escaped)</pre></body></html>

            """
    }

    private func chart(_ title: String, unit: String, _ values: [Double], most: Double? = nil) -> String {
        let (width, height) = (800.0, 120.0)
        let top = max(most ?? values.max() ?? 0, 1e-9)
        let points = values.enumerated().map { second, value in
            let x = width * Double(second) / Double(max(1, values.count - 1))
            let y = height * (1 - min(value / top, 1))
            return "\(x.rounded(toPlaces: 1)),\(y.rounded(toPlaces: 1))"
        }
        return """
            <h2>\(title), 0 to \(top.rounded(toPlaces: 1)) \(unit) over \(values.count) s</h2>
            <svg viewBox="0 0 \(Int(width)) \(Int(height))" width="\(Int(width))" height="\(Int(height))" role="img" \
            aria-label="\(title)"><polyline points="\(points.joined(separator: " "))"/></svg>
            """
    }
}

extension String {
    /// As text of a page.
    fileprivate var escaped: String { replacing(scalars: ["&": "&amp;", "<": "&lt;", ">": "&gt;"]) }
}
