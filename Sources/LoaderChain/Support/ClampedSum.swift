extension FixedWidthInteger {
    /// The sum, or the bound that it would pass.
    package func addingClamped(_ other: Self) -> Self {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? (other < 0 ? .min : .max) : sum
    }
}
