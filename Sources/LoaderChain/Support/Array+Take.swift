extension Array {
    /// Removes the elements that fulfil a condition, and returns them in their order.
    mutating func take(where isTaken: (Element) -> Bool) -> [Element] {
        let taken = filter(isTaken)
        if !taken.isEmpty { removeAll(where: isTaken) }
        return taken
    }
}
