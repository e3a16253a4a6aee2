/// Replaces a value with `newValue`, and returns the old value.
///
/// Under a lock, this moves a user's object out, so that it ends after the unlock.
@inline(__always)
package func replace<Value>(_ value: inout Value, with newValue: consuming Value) -> Value {
    swap(&value, &newValue)
    return newValue
}
