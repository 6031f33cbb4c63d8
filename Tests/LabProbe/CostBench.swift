import GantryCore
import GantryPlatform
import GantryTrust

/// What TLS, framing and statistics take of a processor for one picture, without codecs and sockets, on one thread.
struct CostBench {
    /// Of a picture at 6 Mbit/s and 30 pictures a second.
    private static let pictureBytes = 25_000
    private static let rounds = 2000

    private let client: TLSEngine
    private let server: TLSEngine
    private let picture = UnsafeMutableRawBufferPointer.allocate(byteCount: pictureBytes, alignment: 16)
    /// What the server made of one picture.
    private let ciphertext = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * pictureBytes, alignment: 16)
    private let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 * 1024, alignment: 16)

    private init() throws(GantryError) {
        client = try TLSEngine(role: .client, identity: try Identity(), alpn: "gantry/1") { _ in .trusted }
        server = try TLSEngine(role: .server, identity: try Identity(), alpn: "gantry/1") { _ in .trusted }
        picture.initializeMemory(as: UInt8.self, repeating: 0x5A)
        for _ in 0..<10 {
            _ = try client.advanceHandshake()
            try move(from: client, to: server)
            _ = try server.advanceHandshake()
            try move(from: server, to: client)
        }
        guard client.peerKeyID != nil, server.peerKeyID != nil else {
            throw GantryError(.tls, "The two ends in memory did not complete their handshake.")
        }
    }

    /// Writes a line of JSON: nanoseconds for a picture, medians.
    static func run() -> Int32 {
        do throws(GantryError) {
            let bench = try CostBench()
            defer {
                bench.picture.deallocate()
                bench.ciphertext.deallocate()
                bench.plain.deallocate()
            }
            let (encrypt, decrypt) = try bench.tls()
            let (cut, joined) = try bench.framing()
            LabProbe.say([
                "encrypt": encrypt, "decrypt": decrypt, "cut": cut, "join": joined, "statistics": bench.statistics(),
            ])
            return 0
        } catch {
            StandardStreams.writeError("\(error)\n")
            return 1
        }
    }

    private func move(from source: TLSEngine, to target: TLSEngine) throws(GantryError) {
        while true {
            let count = source.drainCiphertext(into: ciphertext)
            guard count > 0 else { return }
            try target.receive(UnsafeRawBufferPointer(rebasing: ciphertext[..<count]))
        }
    }

    private func tls() throws(GantryError) -> (encrypt: Int64, decrypt: Int64) {
        var (encrypt, decrypt): ([Int64], [Int64]) = ([], [])
        for _ in 0..<Self.rounds {
            let begin = Self.now()
            for start in stride(from: 0, to: picture.count, by: TLSEngine.maximumPlaintext) {
                let end = min(start + TLSEngine.maximumPlaintext, picture.count)
                try server.writePlaintext(UnsafeRawBufferPointer(rebasing: picture[start..<end]))
            }
            let count = server.drainCiphertext(into: ciphertext)
            let middle = Self.now()
            try client.receive(UnsafeRawBufferPointer(rebasing: ciphertext[..<count]))
            var read = 0
            while case .bytes(let count) = try client.readPlaintext(into: plain) { read += count }
            guard read == picture.count else {
                throw GantryError(.tls, "\(read) of \(picture.count) bytes came through TLS.")
            }
            encrypt.append(middle - begin)
            decrypt.append(Self.now() - middle)
        }
        return (Self.median(encrypt), Self.median(decrypt))
    }

    /// The picture as fragments of a message, and taken apart again.
    private func framing() throws(GantryError) -> (cut: Int64, join: Int64) {
        var (cut, join): ([Int64], [Int64]) = ([], [])
        var decoder = FrameDecoder(phase: .session)
        let packet = MediaPacket(capacity: 64 * 1024)
        for _ in 0..<Self.rounds {
            let begin = Self.now()
            var written = 0
            var writer = FragmentWriter(type: .video, channel: 1, count: picture.count)
            while let fragment = writer.next() {
                fragment.header.write(to: UnsafeMutableRawBufferPointer(rebasing: ciphertext[written...]))
                written += FrameHeader.size
                UnsafeMutableRawBufferPointer(rebasing: ciphertext[written...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: picture[fragment.range]))
                written += fragment.range.count
            }
            let middle = Self.now()
            packet.removeAll()
            try decoder.consume(UnsafeRawBufferPointer(rebasing: ciphertext[..<written])) { chunk in
                packet.append(chunk.payload)
            }
            guard packet.count == picture.count else {
                throw GantryError(.protocolError, "\(packet.count) of \(picture.count) bytes came out of the frames.")
            }
            cut.append(middle - begin)
            join.append(Self.now() - middle)
        }
        return (Self.median(cut), Self.median(join))
    }

    /// Both ends note six stages of each picture, and read all of them once for thirty pictures.
    private func statistics() -> Int64 {
        var windows = (0..<6).map { _ in SecondWindow() }
        var times: [Int64] = []
        for second in 0..<Self.rounds / 30 {
            let begin = Self.now()
            for picture in 0..<30 {
                let time = MediaTimestamp(microseconds: Int64(second) * 1_000_000 + Int64(picture) * 33_000)
                for window in windows.indices { windows[window].add(.milliseconds(Int64(picture)), at: time) }
            }
            let end = MediaTimestamp(microseconds: Int64(second + 1) * 1_000_000)
            for window in windows.indices { _ = windows[window].percentiles(at: end) }
            times.append((Self.now() - begin) / 30)
        }
        return Self.median(times)
    }

    private static func now() -> Int64 {
        let time = ContinuousClock.now - start
        return time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000
    }
    private static let start = ContinuousClock.now

    private static func median(_ values: [Int64]) -> Int64 { values.sorted()[values.count / 2] }
}
