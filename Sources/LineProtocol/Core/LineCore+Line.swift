/// The beginning and the end of a line.
extension LineCore {
    @inline(__always)
    mutating func beginLine() {
        lineStart = bytes.count
        previousKey = KeyText(start: 0, end: 0, isPlain: true, leading: 0)
        isUnsorted = false
        fieldCount = 0
        isLost = false
        defaultsWritten = 0
        if !defaultStarts.isEmpty { defaultStarts.removeAll(keepingCapacity: true) }
    }

    /// Begins a line with a measurement.
    @inline(__always)
    mutating func beginLine(measurement: String) {
        beginLine()
        if measurement.isEmpty {
            lose(.emptyMeasurement) { _ in .measurement("") }
        } else {
            bytes.end(at: writeName(measurement, at: bytes.count, as: .measurement))
        }
        tagsStart = bytes.count
    }

    /// Begins a line with what was prepared.
    @inline(__always)
    mutating func beginLine(series: PreparedSeries.Storage) {
        beginLine()
        if let error = series.firstError { take(series.own, error, isLost: series.bytes.isEmpty) }
        bytes.end(at: bytes.put(series.bytes, at: bytes.count))
        seriesEnd = bytes.count
    }

    @inline(never)
    private mutating func take(_ repairs: Repairs, _ error: LineEncodingError, isLost: Bool) {
        if isStrict, firstError == nil { firstError = error }
        for problem in LineProblem.allCases {
            for _ in 0..<repairs[problem] { noted.append(problem) }
        }
        self.isLost = isLost
    }

    /// Ends the line, or removes it if none of its fields can be written.
    ///
    /// - Returns: Whether the line stands in the buffer.
    @inline(__always)
    mutating func endLine(_ timestamp: Timestamp?, _ precision: Precision) -> Bool {
        var place = bytes.count
        if let timestamp {
            bytes.put(UInt8(ascii: " "), at: place)
            place = bytes.put(decimal: storable(timestamp).count(in: precision), at: place &+ 1)
        }
        bytes.put(UInt8(ascii: "\n"), at: place)
        bytes.end(at: place &+ 1)
        if fieldCount == 0 || isLost || !noted.isEmpty { return settle() }
        return true
    }

    /// The time, or the nearest to it that servers can store.
    @inline(__always)
    private mutating func storable(_ timestamp: Timestamp) -> Timestamp {
        if timestamp >= .earliest, timestamp <= .latest { return timestamp }
        note(.timeOutOfRange) { _ in .timestamp }
        return timestamp < .earliest ? .earliest : .latest
    }

    /// Ends a line that has a problem.
    @inline(never)
    private mutating func settle() -> Bool {
        if fieldCount == 0, !isLost { lose(.noFields) { _ in .point } }
        let refused = isStrict && firstError != nil
        if isLost || refused { bytes.end(at: lineStart) }
        if !refused {
            for problem in noted { repairs[problem] += 1 }
            if isLost { repairs.droppedPoints += 1 }
        }
        noted.removeAll(keepingCapacity: true)
        return !isLost && !refused
    }

    /// Removes the line that was begun.
    mutating func abandonLine() {
        bytes.end(at: lineStart)
        noted.removeAll(keepingCapacity: true)
        firstError = nil
    }

    /// Keeps a problem for the end of the line.
    @inline(never)
    mutating func note(_ problem: LineProblem, _ part: (borrowing LineCore) -> LineEncodingError.Part) {
        noted.append(problem)
        if isStrict, firstError == nil {
            let part = part(self)
            firstError = LineEncodingError(part, problem)
        }
    }

    /// Keeps a problem that leaves nothing to write.
    @inline(never)
    mutating func lose(_ problem: LineProblem, _ part: (borrowing LineCore) -> LineEncodingError.Part) {
        note(problem, part)
        isLost = true
    }
}
