extension Array where Element == Double {
    /// Of an odd number of them.
    public var median: Double { sorted()[count / 2] }
}
