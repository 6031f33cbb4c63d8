/// Text that holds a pairing secret, at the places where it has to be a `String`.
package enum SecretText {
    /// Overwrites the memory of `text`, and with it all copies that share this memory, and leaves an empty string.
    ///
    /// Only for text that was made at run time and whose owner nobody else reads any more: a literal's memory cannot be
    /// written. Short text (15 bytes) lives inside its variable and is only let go.
    package static func wipe(_ text: inout String) {
        text.withUTF8 { bytes in
            // A short text is lent as a copy, which is harmless to overwrite.
            PairingSecret.zero(UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer(bytes)))
        }
        text = ""
    }

    /// Overwrites the memory of `bytes`, which nobody shares, and leaves none.
    package static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { PairingSecret.zero($0) }
        bytes = []
    }
}
