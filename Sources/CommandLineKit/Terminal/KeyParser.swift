/// Makes keys of the bytes that a terminal sends (ECMA-48 and xterm's control sequences). A plain value.
package struct KeyParser: Sendable {
    package enum Key: Sendable, Hashable {
        case left, right, end, space
        /// Of ASCII, that can be printed.
        case letter(Character)
    }

    private enum State {
        case ground
        case escape
        /// Behind ESC [, with its number so far.
        case sequence(UInt)
        /// Behind ESC O.
        case single
    }

    private var state = State.ground

    package init() {}

    /// The key that `byte` completes. What is not known is passed over.
    package mutating func feed(_ byte: UInt8) -> Key? {
        let former = state
        state = .ground
        switch former {
        case .ground: return plain(byte)
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence(0)
            case UInt8(ascii: "O"): state = .single
            default: return plain(byte)
            }
            return nil
        case .single: return Self.named(byte)
        case .sequence(let number):
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                state = .sequence(min(1000, number * 10 + UInt(byte - UInt8(ascii: "0"))))
                return nil
            // Parameters and intermediate bytes: a key with Shift, say, which is another key.
            case 0x20...0x3f:
                state = .sequence(1000)
                return nil
            case UInt8(ascii: "~"): return number == 4 || number == 8 ? .end : nil
            default: return number == 0 ? Self.named(byte) : nil
            }
        }
    }

    private mutating func plain(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x1b:
            state = .escape
            return nil
        case UInt8(ascii: " "): return .space
        case 0x21...0x7e: return .letter(Character(Unicode.Scalar(byte)))
        default: return nil
        }
    }

    private static func named(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "F"): .end
        default: nil
        }
    }
}
