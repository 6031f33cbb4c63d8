/// What somebody makes who knows which studio it is, and not its secret.
///
/// - Parameter code: the genuine one. Its check is left out, as by one who makes codes by hand.
package func codeWithMadeUpSecret(_ code: String) -> String {
    let parts = code.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let options = parts.dropFirst(3).filter { !$0.hasPrefix("C") }
    return (parts.prefix(2) + [String(repeating: "A", count: 26)] + options).joined(separator: "/")
}
