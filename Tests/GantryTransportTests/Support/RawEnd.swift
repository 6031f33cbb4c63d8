import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Glibc

/// The other end of a link without a carrier: writes what it is told, and reads until the end.
enum RawEnd {
    /// Sends plain bytes and collects what comes until the other end closes. Blocks.
    @discardableResult
    static func exchange(_ bytes: [UInt8], over link: SocketLink) -> [UInt8] {
        _ = bytes.withUnsafeBytes { try? link.write($0) }
        var received: [UInt8] = []
        while let piece = read(link) { received += piece }
        return received
    }

    /// Speaks TLS as the client, sends `plaintext`, and collects what comes until the end. Blocks.
    static func speakTLS(_ plaintext: [UInt8], over link: SocketLink) throws -> [UInt8] {
        let engine = try TLSEngine(role: .client, identity: try Identity(), alpn: CarrierPair.alpn) { _ in .trusted }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: TLSEngine.maximumPlaintext)
        var hasSent = false
        while true {
            if try engine.advanceHandshake() {
                if !hasSent {
                    hasSent = true
                    try plaintext.withUnsafeBytes { try engine.writePlaintext($0) }
                }
                reading: while true {
                    let result = try buffer.withUnsafeMutableBytes { try engine.readPlaintext(into: $0) }
                    switch result {
                    case .bytes(let count): received += buffer.prefix(count)
                    case .needsInput: break reading
                    case .closedByPeer: return received
                    }
                }
            }
            flush(engine, to: link)
            guard let piece = read(link) else { return received }
            try piece.withUnsafeBytes { try engine.receive($0) }
        }
    }

    private static func flush(_ engine: TLSEngine, to link: SocketLink) {
        var buffer = [UInt8](repeating: 0, count: engine.pendingCiphertext)
        let count = buffer.withUnsafeMutableBytes { engine.drainCiphertext(into: $0) }
        buffer.prefix(count).withUnsafeBytes { _ = try? link.write($0) }
    }

    /// Nil at the end, or when nothing comes for too long.
    private static func read(_ link: SocketLink) -> [UInt8]? {
        var waiting = pollfd(fd: link.pollDescriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, CInt(patience.milliseconds)) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 65536)
        guard case .bytes(let count)? = try? buffer.withUnsafeMutableBytes({ try link.read(into: $0) }) else {
            return nil
        }
        return Array(buffer.prefix(count))
    }
}
