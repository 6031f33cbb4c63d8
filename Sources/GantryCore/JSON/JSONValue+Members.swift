extension JSONValue {
    /// The member of that name; nil where there is none, and for all but objects.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// Whole numbers only.
    package var integer: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    package var array: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    package var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}
