/// Puts `newValue` in the place of a value, and returns that value.
///
/// Under a lock this is how something of a user's is let go of: the old value travels out, and ends after the unlock.
@inline(__always)
package func exchange<Value>(_ value: inout Value, with newValue: consuming Value) -> Value {
    swap(&value, &newValue)
    return newValue
}
