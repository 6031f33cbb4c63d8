import GantryCore
package import GantryMedia

/// Meters the sound of a session as its outputs get it.
package final class LevelOutput: AudioOutput {
    package let meter = LevelMeter()

    package init() {}

    package var returnsAtOnce: Bool { true }
    package func receive(_ frame: AudioFrame) { meter.feed(frame.block) }
    package func audioEnded() {}
}
