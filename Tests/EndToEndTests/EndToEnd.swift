import Testing

/// Everything of this folder, one test after the other: they measure, and they run in real time.
@Suite(.serialized, .timeLimit(.minutes(4))) enum EndToEnd {}
