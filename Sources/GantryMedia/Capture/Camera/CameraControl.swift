/// Something that can be set at a camera: exposure, focus, the frequency of the light.
package struct CameraControl: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case integer, boolean, menu
        /// A menu whose entries are numbers.
        case integerMenu
        case bitmask
        /// Does something when it is set to whatever value.
        case button
    }

    package struct Entry: Sendable, Hashable {
        package var value: Int
        /// The driver's word, made fit for showing; a number for an integer menu.
        package var name: String

        package init(value: Int, name: String) {
            self.value = value
            self.name = name
        }
    }

    /// V4L2_CID_… of linux/v4l2-controls.h.
    package var id: UInt32
    /// As v4l2-ctl writes it: lower case, words joined by underscores.
    package var name: String
    package var kind: Kind
    package var minimum: Int
    package var maximum: Int
    package var step: Int
    package var defaultValue: Int
    /// Nil when it cannot be read.
    package var value: Int?
    /// Of menus; only those that the camera has.
    package var entries: [Entry]
    /// Without effect because of another one, as the exposure time is while exposure is automatic.
    package var isInactive: Bool
    package var isReadOnly: Bool

    package init(
        id: UInt32, name: String, kind: Kind, minimum: Int = 0, maximum: Int = 0, step: Int = 1, defaultValue: Int = 0,
        value: Int? = nil, entries: [Entry] = [], isInactive: Bool = false, isReadOnly: Bool = false
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.defaultValue = defaultValue
        self.value = value
        self.entries = entries
        self.isInactive = isInactive
        self.isReadOnly = isReadOnly
    }

    /// The name of a control as v4l2-ctl makes it of the driver's words: "White Balance, Auto" is `white_balance_auto`.
    package static func name(_ words: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = []
        var isNewWord = false
        for byte in words {
            let isUpper = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            guard
                isUpper || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            else {
                isNewWord = !bytes.isEmpty
                continue
            }
            if isNewWord { bytes.append(UInt8(ascii: "_")) }
            isNewWord = false
            bytes.append(isUpper ? byte | 0x20 : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
