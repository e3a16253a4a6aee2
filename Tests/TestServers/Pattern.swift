import Foundation
import LoaderChain

/// Bytes without a period, so that misplaced blocks are found.
package func pattern(_ count: Int) -> Data {
    var generator = SeededGenerator(seed: UInt64(count))
    var data = Data(capacity: count + 8)
    while data.count < count { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
    return data.prefix(count)
}
