/// A pairing code without the options of these letters: A and B are addresses, C is the check of the whole, which has to go
/// with anything else.
package func pairingCode(_ code: String, without letters: String) -> String {
    code.split(separator: "/", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset < 3 || !($0.element.first.map { letters.contains($0) } ?? false) }
        .map { String($0.element) }.joined(separator: "/")
}

/// What somebody makes who knows which studio it is, and not its secret.
///
/// - Parameter code: the genuine one. Its check is left out, as by one who makes codes by hand.
package func codeWithMadeUpSecret(_ code: String) -> String {
    let parts = pairingCode(code, without: "C").split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    return (parts.prefix(2) + [String(repeating: "A", count: 26)] + parts.dropFirst(3)).joined(separator: "/")
}
