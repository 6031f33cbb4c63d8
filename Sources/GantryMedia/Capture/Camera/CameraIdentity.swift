import GantryCore
import GantryPlatform

/// What a camera that has gone is known by when it comes back.
struct CameraIdentity: Sendable {
    /// As it was named: a node, or a link of udev's.
    let path: String
    /// What the driver calls it.
    let name: String
    /// The link that led to its node, when there was one.
    let link: String?

    init(path: String, name: String) {
        self.path = path
        self.name = name
        link = path.hasPrefix("/dev/v4l/") ? path : SystemPath.resolved(path).flatMap(CameraNode.stablePath)
    }

    /// Who names a link means what is behind it, whatever node that is.
    private var isLinkOnly: Bool { path.hasPrefix("/dev/v4l/") }

    /// Where it may be now, the likeliest first. Opens no other camera's stream.
    func places() -> [String] {
        if isLinkOnly { return SystemPath.resolved(path) == nil ? [] : [path] }
        var found: [String] = []
        if let link, let node = SystemPath.resolved(link) { found.append(node) }
        for node in [path] + CameraFailure.devices()
        where !found.contains(node) && SystemPath.resolved(node) != nil && isLike(node) { found.append(node) }
        return found
    }

    /// Of the same name, and not known to be another of its kind.
    private func isLike(_ node: String) -> Bool {
        do throws(GantryError) {
            let device = try V4L2Device(path: node)
            guard try CameraSetup.checkedName(device) == name else { return false }
        } catch { return node == path }
        // The links by-id hold the serial number.
        guard let link, link.hasPrefix("/dev/v4l/by-id/"), let other = CameraNode.stablePath(of: node),
            other.hasPrefix("/dev/v4l/by-id/")
        else { return true }
        return other == link
    }
}
