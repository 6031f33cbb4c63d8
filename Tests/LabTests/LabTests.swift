import GantryTestSupport
import Testing

/// Everything of this folder: several hosts, each a network namespace. One test after the other.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: Lab.isAvailable, Comment(rawValue: Lab.requirement)))
enum LabTests {}
