/// An output whose end may take a while. All of a session begin theirs before any is waited for: together they take as long as the
/// slowest.
protocol EndingOutput {
    /// Nothing more will come. Does not wait; the last call of `VideoOutput`, `AudioOutput` or `PacketOutput` does, which follows. Again:
    /// nothing.
    func beginEnd()
}
