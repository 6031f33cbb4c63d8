/// One thing that `doctor` looks at. Looking changes nothing.
package struct DoctorCheck {
    /// For people and programs: "avahi".
    package let name: String
    /// Blocks for a second or two at most.
    package let look: () -> [Finding]

    package init(_ name: String, _ look: @escaping () -> [Finding]) {
        self.name = name
        self.look = look
    }
}
