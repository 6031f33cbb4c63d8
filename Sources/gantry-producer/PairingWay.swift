import CommandLineKit
import GantryCore
import ProducerKit

/// Who does the pairing: this process, or the producer that runs.
protocol PairingWay: Sendable {
    /// Blocks for 30 seconds at most. `report` is called on another thread, or on this one.
    func pair(
        code: String, confirms: Bool, report: @escaping @Sendable (ProducerPairingEvent) -> Void
    ) throws(GantryError) -> (name: String, key: String)
    /// Any thread.
    func confirm(_ isSame: Bool)
    /// Any thread.
    func cancel()
}

/// Alone, on the store.
struct OwnPairing: PairingWay {
    let controller: ProducerController

    func pair(
        code: String, confirms: Bool, report: @escaping @Sendable (ProducerPairingEvent) -> Void
    ) throws(GantryError) -> (name: String, key: String) {
        let device = try controller.pairStudio(
            withQRCodeData: code, asksForConfirmation: confirms, report: report)
        return (device.displayedName, device.keyID.description)
    }

    func confirm(_ isSame: Bool) { controller.confirmPairing(isSame) }
    func cancel() { controller.cancelPairing() }
}

/// Through the control socket.
struct RunningPairing: PairingWay {
    /// More than the pairing itself takes.
    private static let limit = MediaDuration.seconds(45)

    let client: ControlClient

    func pair(
        code: String, confirms: Bool, report: @escaping @Sendable (ProducerPairingEvent) -> Void
    ) throws(GantryError) -> (name: String, key: String) {
        let parameters: JSONValue = ["code": .string(code), "confirm": .bool(confirms)]
        let result = try client.call("pair", parameters, limit: Self.limit) { name, message in
            switch name {
            case "searching": report(.searching(seconds: Int(clamping: message["seconds"]?.integer ?? 30)))
            case "studioAnswered": report(.studioAnswered)
            case "comparison":
                report(
                    .comparison(
                        message["number"]?.string ?? "", needsAnswer: message["needsAnswer"]?.bool ?? confirms))
            case "discoveryUnavailable":
                report(.discoveryUnavailable(GantryError(.general, message["message"]?.string ?? "")))
            // Of a newer producer.
            default: break
            }
        }
        return (result["name"]?.string ?? "", result["key"]?.string ?? "")
    }

    func confirm(_ isSame: Bool) { client.post("pair.confirm", ["same": .bool(isSame)]) }
    func cancel() { client.post("pair.cancel") }
}
