package import GantryPlatform

/// Whether picture and sound can go before what other programs compute.
package enum PriorityCheck {
    package static func judge(_ permitted: MediaPriority.Way) -> [Finding] {
        let missing =
            switch permitted {
            case .realtime: nil as String?
            case .nice: "Real-time priority is not permitted here, a larger share of the processor (nice) is"
            case .normal: "Neither real-time priority nor a larger share of the processor (nice) is permitted here"
            }
        guard let missing else {
            return [.ok("Real-time priority is permitted: other programs hardly delay picture and sound.")]
        }
        return [
            .warning(
                "\(missing): other programs that compute delay picture and sound. After this command, log in again.",
                #"printf '%s - rtprio 10\n%s - nice -15\n' $USER $USER | sudo tee /etc/security/limits.d/gantry.conf"#)
        ]
    }
}
