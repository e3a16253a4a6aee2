/// A loader that an ``Authorizer`` works for.
protocol AuthorizingLoader: HTTPLoader {
    /// Hands a task to the loaders after this one.
    func passOn(_ task: HTTPTask)
}
