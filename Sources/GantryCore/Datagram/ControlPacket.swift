/// What the two ends of the datagram path tell each other: RTCP (RFC 3550 section 6) of reduced size (RFC 5506), several in one
/// datagram. What stands here is before SRTCP.
package enum ControlPacket {
    static let receiverReport: UInt8 = 201
    static let application: UInt8 = 204
    static let transportFeedback: UInt8 = 205
    static let genericNACK: UInt8 = 1
    /// "GNTR": what RTCP has no packet for.
    static let name: UInt32 = 0x474E_5452

    /// Subtypes of our application packets.
    package enum Kind: UInt8 {
        /// Opens the way through firewalls; no content.
        case hello = 0
        /// A probe has come: u32 its number, u16 its size, u16 0.
        case probed = 1
        /// Source and extended sequence number of the newest packet that was sent, u32 each, for each stream.
        case sent = 2
        /// FEEDBACK: u16 size of its payload, the payload, zeros up to a multiple of four.
        case feedback = 3
    }

    /// One packet of a datagram.
    package enum Item: Hashable, Sendable {
        case report(Report)
        /// A packet is missing. Comes once for each.
        case missing(source: UInt32, sequence: UInt16)
        case hello
        case probed(number: UInt32, size: Int)
        case sent(source: UInt32, highest: UInt32)
        case feedback(Feedback)
    }

    /// A report block, RFC 3550 section 6.4.1. Of the sender's reports nothing is needed: the clocks are compared over TLS.
    package struct Report: Hashable, Sendable {
        package var source: UInt32
        /// Since the report before, in 256ths.
        package var fractionLost: UInt8
        /// 24 bits, wraps.
        package var lost: UInt32
        package var highest: UInt32
        /// In units of the stream's RTP clock.
        package var jitter: UInt32

        package init(source: UInt32, fractionLost: UInt8, lost: UInt32, highest: UInt32, jitter: UInt32) {
            self.source = source
            self.fractionLost = fractionLost
            self.lost = lost & 0xFF_FFFF
            self.highest = highest
            self.jitter = jitter
        }

        static let size = 24
    }

    /// Calls `body` with everything that is known in `bytes`; unknown packets are passed over. False when a length does not
    /// fit: what came before it was delivered.
    @discardableResult
    package static func read(_ bytes: UnsafeRawBufferPointer, _ body: (Item) -> Void) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            guard rest.count >= 8, rest[0] & 0xE0 == 0x80 else { return false }
            let size = 4 * (Int(rest.bigEndian(at: 2, as: UInt16.self)) + 1)
            guard size >= 8, size <= rest.count else { return false }
            one(UnsafeRawBufferPointer(rebasing: rest[..<size]), body)
            rest = UnsafeRawBufferPointer(rebasing: rest[size...])
        }
        return true
    }

    private static func one(_ packet: UnsafeRawBufferPointer, _ body: (Item) -> Void) {
        let count = packet[0] & 0x1F
        switch packet[1] {
        case receiverReport:
            for index in 0..<Int(count) where 8 + (index + 1) * Report.size <= packet.count {
                body(.report(report(packet.part(8 + index * Report.size, Report.size))))
            }
        case transportFeedback where count == genericNACK && packet.count >= 12:
            let source: UInt32 = packet.bigEndian(at: 8)
            for offset in stride(from: 12, to: packet.count - 3, by: 4) {
                missing(source, packet.bigEndian(at: offset), packet.bigEndian(at: offset + 2), body)
            }
        case application where packet.count >= 12 && packet.bigEndian(at: 8) == name:
            applied(count, UnsafeRawBufferPointer(rebasing: packet[12...]), body)
        default: break
        }
    }

    private static func report(_ block: UnsafeRawBufferPointer) -> Report {
        let lost: UInt32 = block.bigEndian(at: 4)
        return Report(
            source: block.bigEndian(at: 0), fractionLost: block[4], lost: lost, highest: block.bigEndian(at: 8),
            jitter: block.bigEndian(at: 12))
    }

    /// RFC 4585 section 6.2.1: a packet, and a bit for each of the 16 behind it.
    private static func missing(_ source: UInt32, _ first: UInt16, _ bits: UInt16, _ body: (Item) -> Void) {
        body(.missing(source: source, sequence: first))
        for bit in 0..<16 where bits & 1 << bit != 0 {
            body(.missing(source: source, sequence: first &+ UInt16(bit) &+ 1))
        }
    }

    private static func applied(_ subtype: UInt8, _ content: UnsafeRawBufferPointer, _ body: (Item) -> Void) {
        switch Kind(rawValue: subtype) {
        case .hello: body(.hello)
        case .probed where content.count >= 8:
            body(.probed(number: content.bigEndian(at: 0), size: Int(content.bigEndian(at: 4, as: UInt16.self))))
        case .sent:
            for offset in stride(from: 0, to: content.count - 7, by: 8) {
                body(.sent(source: content.bigEndian(at: offset), highest: content.bigEndian(at: offset + 4)))
            }
        case .feedback where content.count >= 2:
            let size = Int(content.bigEndian(at: 0, as: UInt16.self))
            guard size <= content.count - 2, let feedback = try? Feedback(payload: content.part(2, size)) else {
                return
            }
            body(.feedback(feedback))
        case .probed, .feedback, nil: break
        }
    }
}
