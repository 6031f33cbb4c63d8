import Foundation
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

/// What the kernel says of a thread of a tool.
struct ThreadPolicy: Hashable {
    let policy: Int32
    let priority: Int32
    let nice: Int32

    /// By the names of the threads; several threads may have one name.
    static func all(of tool: ToolRun) throws -> [String: Set<ThreadPolicy>] {
        let folder = "/proc/\(tool.processID)/task"
        var found: [String: Set<ThreadPolicy>] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
            // One that has just ended is none.
            guard let line = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8),
                let begin = line.firstIndex(of: "("), let end = line.lastIndex(of: ")")
            else { continue }
            // proc_pid_stat(5): the first behind the name is field 3.
            let words = line[end...].split(separator: " ").dropFirst().map(String.init)
            func field(_ number: Int) -> Int32 { words.count > number - 3 ? Int32(words[number - 3]) ?? -1 : -1 }
            found[String(line[line.index(after: begin)..<end]), default: []].insert(
                ThreadPolicy(policy: field(41), priority: field(40), nice: field(19)))
        }
        return found
    }

    /// Asserts that what hands on is real-time, that what computes has a nice value, that all else is as usual, and that the producer says
    /// so; then ends both. A thread that has just begun may still be asking for it.
    static func expectUrgencies(
        _ stage: ToolStage, _ producer: ToolRun, _ studio: ToolRun, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let wrong = LatestSlot<[String]>()
        _ = try await onThread {
            waitUntil {
                let found = (try? wrongUrgencies(producer, studio)) ?? ["a tool has ended"]
                wrong.put(found)
                return found.isEmpty
            }
        }
        #expect(wrong.take() == [], sourceLocation: sourceLocation)
        let status = try await stage.producer(["status"]).end()
        #expect(status.event("status")?["priority"] as? String == "realtime", sourceLocation: sourceLocation)
        for tool in [studio, producer] { tool.signal(SIGTERM) }
        for tool in [studio, producer] { #expect(try await tool.end().status == 0, sourceLocation: sourceLocation) }
    }

    private static func wrongUrgencies(_ producer: ToolRun, _ studio: ToolRun) throws -> [String] {
        let threads = try all(of: producer).merging(try all(of: studio)) { $0.union($1) }
        var wrong: [String] = []
        for (name, urgency) in [
            ("source", ThreadUrgency.picture), ("producer-io", .network), ("studio-io", .network),
            ("audio-encode", .sound), ("audio-decode", .sound),
        ] {
            let expected = ThreadPolicy(policy: SCHED_RR, priority: urgency.realTime ?? 0, nice: 0)
            if threads[name] != [expected] { wrong.append(name) }
        }
        for name in ["video-encode", "video-decode"] {
            let expected = ThreadPolicy(policy: SCHED_OTHER, priority: 0, nice: ThreadUrgency.computing.nice)
            if threads[name]?.contains(expected) != true { wrong.append(name) }
        }
        for name in ["gantry-producer", "gantry-studio", "control", "producer-listen", "studio-session"] {
            let isUsual = threads[name]?.allSatisfy { $0.policy == SCHED_OTHER && $0.nice == 0 }
            if isUsual != true { wrong.append(name) }
        }
        return wrong.map { "\($0): \(threads[$0] ?? [])" }
    }
}
