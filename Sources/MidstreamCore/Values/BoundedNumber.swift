extension Int64 {
    /// A number of any size without its fraction: the nearest one between −limit and limit, and −limit for what is no number.
    ///
    /// - Parameter limit: At most 9e18, which an `Int64` has room for.
    package init(_ number: Double, within limit: Double) {
        // In this order a comparison with what is no number ends below.
        self = number > -limit ? Int64(number < limit ? number : limit) : Int64(-limit)
    }
}
