// A chat over the data channel of a session: no picture, no sound.
//
//     gantry-example-chat producer [PORT]        waits for studios; everybody hears everybody
//     gantry-example-chat studio [NAME]          from the only producer that is paired, or from that one
//
// Each line of standard input is a message; the end of it (Ctrl-D) ends the chat. Pair before, once: `gantry-studio pair` on one
// side, `gantry-producer pair` on the other.

import ProducerKit
import StudioKit

let label = "chat"
let words = Array(CommandLine.arguments.dropFirst())

func message(_ text: String) throws -> LabeledData { try LabeledData(label: label, bytes: Array(text.utf8)) }

func show(_ name: String, _ data: LabeledData) {
    print("\(name): \(DisplayName(String(decoding: data.bytes, as: UTF8.self)).text)")
}

func host(port: UInt16) throws {
    let producer = try ProducerController(
        configuration: ProducerConfiguration(port: port, video: nil, audio: nil))
    // On a thread of the connection: what one says goes to all others.
    producer.observeData(label) { data, peer in
        show(peer.name, data)
        guard case .active(let peers) = producer.state else { return }
        for other in peers where other.keyID != peer.keyID { producer.sendData(data, to: other.keyID) }
    }
    try producer.start()
    while let line = readLine() { producer.sendData(try message(line)) }
    producer.stop()
}

func join(_ name: String?) throws {
    let studio = try StudioController()
    var configuration = StudioSessionConfiguration()
    configuration.reconnection = .always  // Waits for the producer, also when it comes later.
    let session = studio.makeSession(try studio.target(name), configuration: configuration)
    session.observeData(label) { show("-", $0) }
    let events = session.events
    Task.detached {
        for await event in events {
            switch event {
            case .connected(let name, _, _): print("\(name) is there.")
            case .disconnected(let error): print("Nobody is there yet.", error?.message ?? "")
            case .ended(let error): print("The chat is over.", error?.message ?? "")
            default: break
            }
        }
    }
    try session.start()
    while let line = readLine() {
        if !session.sendData(try message(line)) { print("Nobody is there, or has taken what was said before.") }
    }
    session.close()
    session.waitUntilEnded()
}

switch words.first {
case "producer": try host(port: words.dropFirst().first.flatMap { UInt16($0) } ?? Endpoint.defaultPort)
case "studio": try join(words.dropFirst().first)
default: print("Say which: gantry-example-chat producer [PORT] | studio [NAME]")
}
