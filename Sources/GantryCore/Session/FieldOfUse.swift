/// For which use a producer sends: a venue, an owner of the content, an application. A studio that names any of them sees
/// and connects only producers that name the same; what it leaves out matches all.
///
/// It sorts, and protects nothing: who may receive is decided by pairing alone.
public struct FieldOfUse: Sendable, Hashable {
    /// Bytes of UTF-8 that each part may have: with three of them the announcement stays within 200 bytes.
    public static let maximumBytes = 48

    /// Where; nil: none, or any. What cannot be shown is dropped, and what is too long cut (`DisplayName`).
    public let venue: String?
    /// Whose content it is; nil: none, or any.
    public let owner: String?
    /// Which application it is for; nil: none, or any.
    public let app: String?

    /// What is left out is none, or any. What cannot be shown is dropped, and what is too long cut.
    public init(venue: String? = nil, owner: String? = nil, app: String? = nil) {
        self.venue = Self.clean(venue)
        self.owner = Self.clean(owner)
        self.app = Self.clean(app)
    }

    /// Nothing is named.
    public var isEmpty: Bool { self == FieldOfUse() }

    /// Whether a producer of the field `offered` is one that this field, a studio's, asks for.
    public func matches(_ offered: FieldOfUse) -> Bool {
        (venue == nil || venue == offered.venue) && (owner == nil || owner == offered.owner)
            && (app == nil || app == offered.app)
    }

    private static func clean(_ text: String?) -> String? {
        guard let text else { return nil }
        let clean = DisplayName.sanitized(text, graphemes: maximumBytes, bytes: maximumBytes)
        return clean.isEmpty ? nil : clean
    }

    /// With another part instead; for the settings of both kits.
    package func with(_ part: Part, _ text: String?) -> FieldOfUse {
        FieldOfUse(
            venue: part == .venue ? text : venue, owner: part == .owner ? text : owner, app: part == .app ? text : app)
    }

    /// One of the three.
    package enum Part: String, Sendable, CaseIterable {
        case venue
        case owner
        case app
    }

    package subscript(_ part: Part) -> String? {
        switch part {
        case .venue: venue
        case .owner: owner
        case .app: app
        }
    }
}

extension FieldOfUse: CustomStringConvertible {
    /// "venue Arena, app Scores".
    public var description: String {
        let parts = Part.allCases.compactMap { part in self[part].map { "\(part.rawValue) \($0)" } }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

extension Setting {
    /// A row for each part.
    package static func fieldOfUse(
        _ path: any WritableKeyPath<Configuration, FieldOfUse> & Sendable,
        _ application: ConfigurationSetting.Application, _ summary: @Sendable (String) -> String
    ) -> [Self] {
        FieldOfUse.Part.allCases.map { part in
            Self(
                part.rawValue, .label(FieldOfUse.maximumBytes), application, summary(part.rawValue),
                read: { $0[keyPath: path][part].map(SettingValue.string) ?? .null },
                write: { $0[keyPath: path] = $0[keyPath: path].with(part, $1) })
        }
    }
}
