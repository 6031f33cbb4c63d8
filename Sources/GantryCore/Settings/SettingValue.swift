/// A value of a configuration, as JSON has them: a text, a number, true or false. Write it as a literal.
///
/// ```swift
/// try studio.configure(["name": "Desk", "audio": false, "replay": "30s", "duration": nil])
/// ```
public enum SettingValue: Sendable, Hashable {
    /// The setting's default.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int)
    /// A number with a fraction.
    case number(Double)
    /// A text: a name, a time such as "30s", a rate such as "6M".
    case string(String)

    /// As the text forms of settings have it; nil for null.
    package var text: String? {
        switch self {
        case .null: nil
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value
        }
    }

    package var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(Int64(value))
        case .number(let value): .number(value)
        case .string(let value): .string(value)
        }
    }

    /// Nil for arrays and objects.
    package init?(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(Int(value))
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .array, .object: return nil
        }
    }
}

extension SettingValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
}
