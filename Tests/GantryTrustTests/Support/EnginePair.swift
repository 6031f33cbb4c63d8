import GantryCore
import GantryTrust

/// Two engines back to back in memory.
final class EnginePair {
    let client: TLSEngine
    let server: TLSEngine
    /// Bytes that go over in one piece.
    var pieceSize = 65536
    /// Changes the ciphertext on its way to the client.
    var tamper: (([UInt8]) -> [UInt8])?

    static let alpn = "gantry/1"

    init(
        client: Identity, server: Identity, clientALPN: String = alpn, serverALPN: String = alpn,
        clientTrusts: TrustDecision = .trusted, serverTrusts: TrustDecision = .trusted
    ) throws(GantryError) {
        self.client = try TLSEngine(role: .client, identity: client, alpn: clientALPN) { _ in clientTrusts }
        self.server = try TLSEngine(role: .server, identity: server, alpn: serverALPN) { _ in serverTrusts }
    }

    /// Moves what waits from one to the other, in pieces. True when something moved.
    @discardableResult
    func pump(_ source: TLSEngine, _ target: TLSEngine) throws(GantryError) -> Bool {
        var bytes = Self.drain(source)
        if let tamper, target === client { bytes = tamper(bytes) }
        let moved = !bytes.isEmpty
        while !bytes.isEmpty {
            let piece = Array(bytes.prefix(pieceSize))
            bytes.removeFirst(piece.count)
            try Self.receive(piece, target)
            if !bytes.isEmpty { _ = try target.advanceHandshake() }
        }
        return moved
    }

    /// Runs both handshakes until both are complete or nothing moves any more. Gives the error of each side.
    @discardableResult
    func handshake() -> (client: GantryError?, server: GantryError?) {
        var errors: (client: GantryError?, server: GantryError?) = (nil, nil)
        for _ in 0..<20 {
            let client = step(client)
            errors.client = errors.client ?? client
            do throws(GantryError) { try pump(self.client, self.server) } catch {
                errors.server = errors.server ?? error
            }
            let server = step(server)
            errors.server = errors.server ?? server
            do throws(GantryError) { try pump(self.server, self.client) } catch {
                errors.client = errors.client ?? error
            }
        }
        return errors
    }

    private func step(_ engine: TLSEngine) -> GantryError? {
        do throws(GantryError) {
            _ = try engine.advanceHandshake()
            return nil
        } catch { return error }
    }

    static func drain(_ engine: TLSEngine) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: engine.pendingCiphertext)
        let count = bytes.withUnsafeMutableBytes { engine.drainCiphertext(into: $0) }
        return Array(bytes.prefix(count))
    }

    static func receive(_ bytes: [UInt8], _ engine: TLSEngine) throws(GantryError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(GantryError) in
            try engine.receive(UnsafeRawBufferPointer(buffer))
        }
    }

    static func write(_ bytes: [UInt8], _ engine: TLSEngine) throws(GantryError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(GantryError) in
            try engine.writePlaintext(UnsafeRawBufferPointer(buffer))
        }
    }

    /// All plaintext that is there, and how it ended.
    static func read(_ engine: TLSEngine) throws(GantryError) -> (bytes: [UInt8], end: PlaintextResult) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 20000)
        while true {
            let result = try buffer.withUnsafeMutableBufferPointer { (buffer) throws(GantryError) in
                try engine.readPlaintext(into: UnsafeMutableRawBufferPointer(buffer))
            }
            guard case .bytes(let count) = result else { return (bytes, result) }
            bytes += buffer.prefix(count)
        }
    }
}
