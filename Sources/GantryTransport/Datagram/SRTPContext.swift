import CSRTP
package import GantryCore
import GantryTrust

/// SRTP and SRTCP of one direction (RFC 3711) with AEAD_AES_128_GCM (RFC 7714), by libsrtp. Replayed and forged packets are refused.
///
/// One thread.
package final class SRTPContext: PacketProtection {
    package enum Direction {
        case sending
        case receiving
    }

    private let session: srtp_t
    /// libsrtp's own set-up, once in a process.
    private static let isReady = srtp_init() == srtp_err_status_ok
    /// Packets that may come out of order: as many as a stream remembers.
    private static let replayWindow = UInt(DatagramLimits.videoWindow)

    /// - Parameters:
    ///   - keys: of this direction.
    ///   - sources: the SSRCs there are. Others are refused.
    /// - Throws: `tls` when libsrtp cannot do it.
    package init(_ direction: Direction, keys: DatagramKeys.Direction, sources: [UInt32]) throws(GantryError) {
        var created: srtp_t?
        var status = Self.isReady ? srtp_create(&created, nil) : srtp_err_status_init_fail
        for source in sources where status == srtp_err_status_ok {
            status = Self.add(source, keys, to: created)
        }
        guard status == srtp_err_status_ok, let created else {
            if let created { srtp_dealloc(created) }
            throw GantryError(
                .tls, "Media cannot be encrypted for UDP: libsrtp2 refuses AES-GCM. Media goes over TLS.",
                cause: "libsrtp status \(status.rawValue)")
        }
        session = created
    }

    private static func add(_ source: UInt32, _ keys: DatagramKeys.Direction, to session: srtp_t?) -> srtp_err_status_t
    {
        var policy = srtp_policy_t()
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        policy.ssrc.type = ssrc_specific
        policy.ssrc.value = source
        policy.window_size = replayWindow
        var key = keys.keyAndSalt
        defer { PairingCryptography.zero(&key) }
        return key.withUnsafeMutableBufferPointer { buffer in
            policy.key = buffer.baseAddress
            return srtp_add_stream(session, &policy)
        }
    }

    deinit { srtp_dealloc(session) }

    package func protect(_ packet: UnsafeMutableRawBufferPointer, count: Int) -> Int? {
        guard packet.count >= count + DatagramLimits.controlProtection else { return nil }
        var size = Int32(clamping: count)
        return srtp_protect(session, packet.baseAddress, &size) == srtp_err_status_ok ? Int(size) : nil
    }

    package func protectControl(_ packet: UnsafeMutableRawBufferPointer, count: Int) -> Int? {
        guard packet.count >= count + DatagramLimits.controlProtection else { return nil }
        var size = Int32(clamping: count)
        return srtp_protect_rtcp(session, packet.baseAddress, &size) == srtp_err_status_ok ? Int(size) : nil
    }

    /// Checks and decrypts in place; the packet's size then. Nil for what is not from the other end, or came before.
    package func open(_ packet: UnsafeMutableRawBufferPointer) -> Int? {
        guard packet.count >= RTPHeader.size + DatagramLimits.protection else { return nil }
        var size = Int32(clamping: packet.count)
        return srtp_unprotect(session, packet.baseAddress, &size) == srtp_err_status_ok ? Int(size) : nil
    }

    package func openControl(_ packet: UnsafeMutableRawBufferPointer) -> Int? {
        guard packet.count >= 8 + DatagramLimits.controlProtection else { return nil }
        var size = Int32(clamping: packet.count)
        return srtp_unprotect_rtcp(session, packet.baseAddress, &size) == srtp_err_status_ok ? Int(size) : nil
    }

    /// Whether a datagram is RTCP: RFC 5761 section 4.
    package static func isControl(_ packet: UnsafeRawBufferPointer) -> Bool {
        packet.count >= 8 && 192...223 ~= packet[1]
    }
}
