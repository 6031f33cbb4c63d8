import Glibc

/// The sound cards as the kernel tells of them, to everybody: names without leave to use the devices.
enum SoundCards {
    struct Card: Hashable {
        var number: Int
        /// The short name, such as `Loopback`.
        var id: String
    }

    /// A node in `/dev/snd`: one device of a card, in one direction.
    struct Node: Hashable {
        var card: Int
        var device: Int
        var isCapture: Bool

        var path: String { "/dev/snd/pcmC\(card)D\(device)\(isCapture ? "c" : "p")" }

        /// From a name such as `pcmC0D1c`.
        init?(name: String) {
            guard name.hasPrefix("pcmC"), let last = name.last, last == "c" || last == "p" else { return nil }
            let numbers = name.dropFirst(4).dropLast().split(separator: "D", omittingEmptySubsequences: false)
            guard numbers.count == 2, let card = UInt16(numbers[0]), let device = UInt16(numbers[1]) else { return nil }
            self.init(card: Int(card), device: Int(device), isCapture: last == "c")
        }

        init(card: Int, device: Int, isCapture: Bool) {
            (self.card, self.device, self.isCapture) = (card, device, isCapture)
        }
    }

    /// In the order of their numbers.
    static func all(in folder: String = "/proc/asound") -> [Card] {
        SystemPath.entries(folder, limit: 1024).compactMap { name -> Card? in
            guard name.hasPrefix("card"), let number = UInt16(name.dropFirst(4)),
                let id = text("\(folder)/\(name)/id")?.split(separator: "\n").first
            else { return nil }
            return Card(number: Int(number), id: String(id))
        }.sorted { $0.number < $1.number }
    }

    /// In the order of card and device.
    static func nodes(capture: Bool, in folder: String = "/dev/snd") -> [Node] {
        SystemPath.entries(folder, limit: 1024).compactMap { Node(name: $0) }.filter { $0.isCapture == capture }
            .sorted { ($0.card, $0.device) < ($1.card, $1.device) }
    }

    /// For the command line. A card's number may change, its name does not.
    static func name(of node: Node, id: String?) -> String {
        let card = id ?? String(node.card)
        return node.device == 0 ? card : "hw:\(card),\(node.device)"
    }

    /// The beginning of a small file of the kernel's, at most 4 KiB.
    static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }
}
