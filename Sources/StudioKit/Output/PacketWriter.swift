import GantryCore
import GantryMedia
import GantryPlatform

/// What a `MuxOutput` drives: a recording or a transport stream. One thread.
protocol PacketWriter {
    func setFormat(_ format: StreamFormat) throws(GantryError)
    func write(_ packet: MediaPacket) throws(GantryError)
    /// Closes the file in order and says what is in it, where that is known.
    func close() throws(GantryError) -> RecordingSummary?
}

extension RecordingWriter: PacketWriter {
    func close() throws(GantryError) -> RecordingSummary? { try finish() }
}

extension TransportStreamWriter: PacketWriter {
    func close() throws(GantryError) -> RecordingSummary? {
        try finish()
        return nil
    }
}
