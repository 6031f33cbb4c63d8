import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

/// Row S9: configuration at run time, from a dictionary or JSON, read back.
@Suite struct ConfigurationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func studio(_ change: (inout StudioConfiguration) -> Void = { _ in }) throws -> StudioController {
        var configuration = StudioConfiguration(name: "Desk", stateDirectory: folder.file("studio"))
        change(&configuration)
        return try StudioController(configuration: configuration)
    }

    private func producer() throws -> ProducerController {
        try ProducerController(
            configuration: ProducerConfiguration(
                name: "Camera", port: 0, isAdvertised: false, stateDirectory: folder.file("producer")))
    }

    private func expect(_ words: [String], _ body: () throws -> Void) {
        let error = #expect(throws: GantryError.self) { try body() }
        #expect(error?.code == .invalidArgument)
        for word in words { #expect(error?.message.contains(word) == true, "\(word) in: \(error?.message ?? "")") }
    }

    @Test("S9: a dictionary configures a studio, and is read back")
    func dictionaryOfAStudio() throws {
        let studio = try studio()
        let pending = try studio.configure([
            "name": "Attic", "audio": false, "transport": "tcp", "replay": "1m", "duration": 2.5, "reconnect": "always",
        ])
        #expect(Set(pending.map(\.application)) == [.nextSession])
        #expect(pending.count == 6)
        #expect(studio.configuration.name == "Attic")
        let session = studio.sessionConfiguration
        #expect(!session.wantsAudio && session.wantsVideo)
        #expect(session.transport == .tcp)
        #expect(session.replay?.duration == .seconds(60))
        #expect(session.duration == .milliseconds(2500))
        let values = studio.configurationValues
        #expect(values["replay"] == "60s")
        #expect(values["duration"] == "2500ms")
        #expect(values["reconnect"] == "always")
        #expect(values["data"] == true)
        #expect(Set(values.keys) == Set(StudioController.settings.map(\.key)))
        // Null is the default.
        try studio.configure(["replay": nil, "audio": nil, "name": nil])
        #expect(studio.configurationValues["replay"] == .null)
        #expect(studio.sessionConfiguration.wantsAudio)
        #expect(studio.configuration.name == nil)
    }

    @Test("S9: what switches something on comes before what is about it, whatever the order it is written in")
    func orderDoesNotMatter() throws {
        for json in [#"{"bitrate": "4M", "video": true}"#, #"{"video": true, "bitrate": "4M"}"#] {
            let producer = try producer()
            try producer.configure(["video": false])
            #expect(producer.configuration.video == nil)
            try producer.configure(json: json)
            #expect(producer.configuration.video?.bitrate == 4_000_000)
            try producer.configure(["video": false])
            let megabits = 3
            try producer.configure(["video": true, "bitrate": "\(megabits)M"])
            #expect(producer.configuration.video?.bitrate == 3_000_000)
        }
    }

    @Test("S9: JSON configures a producer, and what is read back configures another one the same")
    func jsonOfAProducer() throws {
        let producer = try producer()
        let pending = try producer.configure(
            json: """
                {
                  "name": "Küche", "port": 7790,
                  "fps": "29.97", "bitrate": "2.5M", "audio": false
                }
                """)
        #expect(pending.map(\.key) == ["name", "port", "audio", "fps"])
        #expect(producer.configuration.port == 7790)
        #expect(producer.configuration.video?.frameRate == FrameRate(30000, 1001))
        #expect(producer.configuration.video?.bitrate == 2_500_000)
        #expect(producer.configuration.audio == nil)
        #expect(producer.configurationValues["fps"] == "30000/1001")
        #expect(producer.displayedName == "Küche")
        let other = try ProducerConfiguration(json: producer.configurationJSON)
        #expect(other.name == "Küche" && other.port == 7790 && other.audio == nil)
        #expect(other.video?.bitrate == 2_500_000 && other.stateDirectory == folder.file("producer"))
    }

    @Test("S9: what is read back is JSON for another program")
    func independentReader() throws {
        let name = "a \"quoted\" \\ name – é"
        let text = try studio { $0.name = name }.configurationJSON
        let value = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(value["name"] as? String == name)
        #expect(value["video"] as? Bool == true)
        #expect(value["replay"] is NSNull)
        #expect(Set(value.keys) == Set(StudioController.settings.map(\.key)))
    }

    @Test("S9: errors name line and key and say what is allowed, and change nothing")
    func faults() throws {
        let studio = try studio()
        let before = studio.configurationValues
        expect(["Line 3", "transport", "quic", "auto, tcp, udp"]) {
            try studio.configure(json: "{\n  \"audio\": false,\n  \"transport\": \"quic\"\n}")
        }
        expect(["Line 2", "\"vidio\"", "Did you mean video?"]) { try studio.configure(json: "{\n\"vidio\": true}") }
        expect(["no setting \"zzzzzz\"", "There are: name,"]) { try studio.configure(["zzzzzz": 1]) }
        expect(["audio", "true or false"]) { try studio.configure(["audio": "yes"]) }
        expect(["name", "cannot be \"true\""]) { try studio.configure(["name": true]) }
        expect(["replay", "from 1s to 600s"]) { try studio.configure(["replay": "11m"]) }
        expect(["duration"]) { try studio.configure(["duration": -1]) }
        expect(["Line 2", "video is an array"]) { try studio.configure(json: "{\n\"video\": [true]}") }
        expect(["JSON object"]) { try studio.configure(json: "[]") }
        expect(["line 2, column 8"]) { try studio.configure(json: "{\n\"ä\": 1 2}") }
        expect(["the same name again", "line 3"]) {
            try studio.configure(json: "{\"audio\": true,\n\n\"audio\": false}")
        }
        expect(["bytes at most"]) {
            try studio.configure(json: String(repeating: " ", count: 300_000))
        }
        #expect(studio.configurationValues == before)
        let producer = try producer()
        for (key, value) in [
            ("port", 65536), ("port", -1), ("port", 1.5), ("fps", 0), ("fps", "fast"), ("bitrate", 1),
            ("bitrate", "6X"),
            ("name", "\u{200B}"),
        ] as [(String, SettingValue)] {
            expect([key, "It takes"]) { try producer.configure([key: value]) }
        }
    }

    @Test("S9: what cannot change any more says so")
    func fixedSettings() throws {
        let studio = try studio()
        let error = #expect(throws: GantryError.self) { try studio.configure(["state-dir": "/elsewhere"]) }
        #expect(error?.code == .invalidState)
        #expect(error?.message.contains("state-dir") == true)
        // The same again is no change.
        #expect(try studio.configure(["state-dir": .string(folder.file("studio"))]).isEmpty)
    }

    @Test("S9: a producer that runs is started again with what was changed meanwhile")
    func nextStart() async throws {
        let producer = try producer()
        try producer.start()
        let port = try #require(producer.port)
        let free = try LoopbackSocket.freePort()
        #expect(try producer.configure(["port": .integer(Int(free))]).map(\.application) == [.nextStart])
        #expect(producer.port == port)
        try await onThread { producer.stop() }
        try producer.start()
        #expect(producer.port == UInt16(free))
        try await onThread { producer.stop() }
    }

    @Test("S13: version and log level; the level counts at once")
    func versionAndLog() throws {
        #expect(StudioController.version.split(separator: ".").count >= 2)
        #expect(StudioController.version == ProducerController.version)
        let former = StudioController.logLevel
        defer { StudioController.logLevel = former }
        let studio = try studio()
        // The same as it is: others run beside this test.
        #expect(try studio.configure(["log": .string(former.rawValue)]).isEmpty)
        #expect(studio.configurationValues["log"] == .string(former.rawValue))
        #expect(Log.level.name == former.rawValue)
    }

    @Test("S9: every setting is documented, and its default is one that it takes")
    func documentation() throws {
        for setting in StudioController.settings + ProducerController.settings {
            #expect(setting.summary.hasSuffix("."))
            #expect(!setting.allowed.isEmpty)
        }
        let studio = try studio()
        for setting in StudioController.settings where setting.application != .atCreation {
            try studio.configure([setting.key: setting.defaultValue])
        }
        let producer = try producer()
        for setting in ProducerController.settings where setting.application != .atCreation {
            try producer.configure([setting.key: setting.defaultValue])
        }
    }
}
