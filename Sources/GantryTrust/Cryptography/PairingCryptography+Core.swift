import GantryCore

/// The primitives that the pairing state machines ask for.
extension PairingCryptography: PairingCrypto {}
