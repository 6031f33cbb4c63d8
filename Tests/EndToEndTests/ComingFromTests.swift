import Foundation
import GantryTestSupport
import Testing

/// The Swift in docs/coming-from.md compiles against the public API alone: the compiler is not told the package's name. One block
/// after the other: a compiler takes up to 1 GB.
@Suite(.serialized) struct ComingFromTests {
    struct Block: Sendable, CustomTestStringConvertible {
        var line: Int
        var text: String
        var testDescription: String { "line \(line)" }
    }

    private static let page = CoreVectors.repository.appending(path: "docs/coming-from.md")

    static let blocks: [Block] = {
        let lines = (try? String(contentsOf: page, encoding: .utf8))?.components(separatedBy: "\n") ?? []
        var blocks: [Block] = []
        var open: Block?
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                if let block = open { blocks.append(block) }
                open = open == nil && line == "```swift" ? Block(line: index + 2, text: "") : nil
            } else {
                open?.text += line + "\n"
            }
        }
        return blocks
    }()

    /// Of the build that this test is of.
    private static let modules: String = {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let beside = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/Modules"
        if FileManager.default.fileExists(atPath: beside + "/ProducerKit.swiftmodule") { return beside }
        return CoreVectors.repository.appending(path: ".build/debug/Modules").path
    }()

    /// The headers of the C libraries, which the modules of ours refer to.
    private static func flags() async throws -> [String] {
        let package = try String(contentsOf: CoreVectors.repository.appending(path: "Package.swift"), encoding: .utf8)
        let names = package.matches(of: /pkgConfig: "([^"]+)"/).map { String($0.1) }
        let result = try await Oracle.check(["pkg-config", "--cflags-only-I"] + names)
        let folders = try FileManager.default.contentsOfDirectory(
            at: CoreVectors.repository.appending(path: "Sources/CModules"), includingPropertiesForKeys: nil)
        return folders.flatMap { ["-I", $0.path] }
            + result.lines.joined(separator: " ").split(separator: " ").flatMap { ["-Xcc", String($0)] }
    }

    @Test("C11: the examples for those who come from another SDK compile", .timeLimit(.minutes(4)), arguments: blocks)
    func itCompiles(_ block: Block) async throws {
        let folder = try TestFolder()
        try block.text.write(toFile: folder.file("main.swift"), atomically: true, encoding: .utf8)
        let result = try await Oracle.run(
            ["swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I", Self.modules]
                + Self.flags() + [folder.file("main.swift")])
        #expect(result.status == 0, "\(block.text)\n\(result.errors)")
    }

    @Test func thePageHasExamples() { #expect(Self.blocks.count >= 8) }
}
