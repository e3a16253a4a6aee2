/// Uses a value in a way that the optimizer cannot see through, so that the work that produced it is not removed.
@inline(never)
@_optimize(none)
package func blackHole<Value>(_ value: Value) {}

/// Returns the value unchanged, but hides it from the optimizer, so that nothing is computed ahead of time.
@inline(never)
@_optimize(none)
package func identity<Value>(_ value: Value) -> Value { value }
