/// Which end of a session. The raw value is the number on the wire.
package enum SessionRole: UInt8, Sendable, CaseIterable {
    case producer = 1
    case studio = 2

    package var other: SessionRole { self == .producer ? .studio : .producer }
}
