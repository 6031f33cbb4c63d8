import Foundation
import GantryCore
import GantryPlatform
import GantryTransport

enum LabProbe {
    static func run(_ arguments: [String]) -> Int32 {
        if let status = USBProbe.run(arguments) { return status }
        if arguments == ["costs"] { return CostBench.run() }
        guard arguments.count >= 2, let type = ServiceType(rawValue: arguments[1]) else { return usage() }
        let discovery = Discovery { state in
            switch state {
            case .running: say(["event": "running"])
            case .unavailable(let error):
                say(["event": "unavailable", "code": error.code.rawValue, "message": error.description])
            }
        }
        // Before there are other threads: they inherit that SIGTERM is blocked.
        stopOnTermination(discovery)
        do throws(GantryError) { try discovery.start() } catch {
            say(["event": "failed", "message": error.description])
            return 1
        }
        switch arguments[0] {
        case "browse": browse(type, discovery)
        case "advertise":
            guard arguments.count >= 4, let port = UInt16(arguments[3]) else { return usage() }
            advertise(
                ServiceAdvertisement(type: type, name: arguments[2], port: port, text: pairs(arguments.dropFirst(4))),
                discovery)
        default: return usage()
        }
        discovery.stop()
        say(["event": "stopped"])
        return 0
    }

    private static func usage() -> Int32 {
        StandardStreams.writeError(
            "usage: gantry-labprobe browse TYPE | advertise TYPE NAME PORT [KEY=VALUE…] | usb-device MOUNT"
                + " | usb-host SERIAL | usb-bench SERIAL SECONDS | costs\n")
        return 2
    }

    private static func browse(_ type: ServiceType, _ discovery: Discovery) {
        let browse = discovery.browse(type) { services in
            say([
                "event": "services",
                "services": services.map { service in
                    [
                        "name": service.name, "endpoints": service.endpoints.map(\.description), "text": service.text,
                    ] as [String: Any]
                },
            ])
        }
        while let line = readLine(), line != "quit" { if line == "stop" { browse.stop() } }
    }

    private static func advertise(_ advertisement: ServiceAdvertisement, _ discovery: Discovery) {
        let registration = discovery.advertise(advertisement) { name in say(["event": "named", "name": name]) }
        while let line = readLine(), line != "quit" {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "update": registration.update(text: pairs(words.dropFirst()))
            case "withdraw": registration.withdraw()
            default: StandardStreams.writeError("unknown: \(line)\n")
            }
        }
    }

    private static func pairs(_ words: ArraySlice<String>) -> [String: String] {
        var text: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            text[parts[0]] = parts.count == 2 ? parts[1] : ""
        }
        return text
    }

    /// SIGTERM: a goodbye goes out, as from a tool.
    private static func stopOnTermination(_ discovery: Discovery) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let signals = set
        Thread.detachNewThread {
            var signals = signals
            var number: Int32 = 0
            sigwait(&signals, &number)
            discovery.stop()
            exit(0)
        }
    }

    static func say(_ value: [String: Any]) {
        guard let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys]) else { return }
        _ = (data + Data("\n".utf8)).withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }
}
