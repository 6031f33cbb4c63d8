import GantryCore

extension StreamInfo: CustomStringConvertible {
    /// For people: what it is, and its name, as in "picture (camera)".
    public var description: String {
        switch kind {
        case .video: "picture (\(name))"
        case .audio: "sound (\(name))"
        case .data: "data (\(name))"
        }
    }
}

extension StreamChange: CustomStringConvertible {
    /// For logs: "created picture (camera), sound (microphone); destroyed data (data)"; "none" for none.
    public var description: String {
        let parts = [("created", created), ("destroyed", destroyed), ("changed", changed)].filter { !$0.1.isEmpty }
        guard !parts.isEmpty else { return "none" }
        return parts.map { "\($0.0) \($0.1.map(\.description).joined(separator: ", "))" }.joined(separator: "; ")
    }
}
