import GantryCore

/// Finds the device that a person means.
enum DeviceSearch {
    /// Fewer characters of a key say too little.
    private static let shortestPrefix = 4
    private static let mostListed = 5

    static func find(_ text: String, in devices: [PairedDevice]) throws(GantryError) -> PairedDevice {
        // As the store keeps names: a longer one that somebody has given is found by what was typed.
        let name = PeerName.isBlank(text) ? text : PeerName.cleaned(text)
        if let found = try single(text, devices.filter { $0.displayedName == name }) { return found }
        if let found = try single(text, devices.filter { $0.name == name }) { return found }
        let prefix = text.uppercased()
        if prefix.utf8.count >= shortestPrefix,
            let found = try single(text, devices.filter { $0.keyID.description.hasPrefix(prefix) })
        {
            return found
        }
        throw unknown(text)
    }

    static func unknown(_ text: String) -> GantryError {
        GantryError(
            .unknownDevice,
            "No paired device is called \"\(PeerName.cleaned(text))\". The names and keys are shown by: devices list")
    }

    private static func single(_ text: String, _ found: [PairedDevice]) throws(GantryError) -> PairedDevice? {
        guard found.count > 1 else { return found.first }
        var list = found.prefix(mostListed).map { "\($0.displayedName) (\($0.keyID.short))" }.joined(separator: ", ")
        if found.count > mostListed { list += " and \(found.count - mostListed) more" }
        throw GantryError(
            .invalidArgument,
            "\"\(PeerName.cleaned(text))\" fits several paired devices: \(list). Name one of them by the start of its key."
        )
    }
}
