/// The place of a quantile among values that are in order: the rule for all quantiles of the package.
package struct QuantileRank {
    /// The number of the value that is the quantile, from 1 on.
    package let rank: Int
    /// The number of values that the quantile has at or below it; not a whole number if it lies between two of them.
    package let position: Double

    /// Finds the quantile of a share; nil if there are no values, or if the share is not from 0 to 1.
    ///
    /// The rank is the lowest whose share of the values is not below `share`. The shares are compared, and not the products with the
    /// count: 7 / 100 is the same double as 0.07, while 0.07 * 100 is 7.000000000000001 and would round up to the eighth value.
    package init?(of share: Double, among count: Int) {
        guard count > 0, share >= 0, share <= 1 else { return nil }
        let all = Double(count)
        let nearest = (share * all).rounded()
        let nearestShare = nearest / all
        position = nearestShare == share ? nearest : share * all
        rank = max(1, Int(exactly: nearestShare < share ? nearest + 1 : nearest) ?? count)
    }
}
