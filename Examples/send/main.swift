// Sends a picture that it draws itself, 30 times a second, to every studio that is paired and connects.
//
//     gantry-producer pair               once: pairs with the studio that shows a code (`gantry-studio pair`)
//     gantry-example-send [PORT]         ends with Ctrl-C

import ProducerKit

let (width, height, rate) = (640, 360, 30)

var configuration = ProducerConfiguration(name: "Example", audio: nil)
configuration.video = .init(frameRate: .fps30, sourceName: "colours")
if let port = CommandLine.arguments.dropFirst().first.flatMap({ UInt16($0) }) { configuration.port = port }

let producer = try ProducerController(configuration: configuration)
let events = producer.events
try producer.start()

Task {
    for await event in events {
        switch event {
        case .started(let port): print("Port \(port). Paired with: \(try producer.pairedDevices.map(\.displayedName))")
        case .connected(let peer): print("\(peer.name) receives.")
        case .disconnected(let peer, let error): print("\(peer.name) is gone.", error?.message ?? "")
        default: break
        }
    }
}

/// A band of light that wanders over two colours. BGRA: blue, green, red, and a byte that nobody looks at.
func draw(_ number: Int, into pixels: UnsafeMutableRawBufferPointer) {
    let band = number * 4 % width
    for y in 0..<height {
        for x in 0..<width {
            let isBright = (x - band + width) % width < width / 8
            let at = (y * width + x) * 4
            pixels[at] = isBright ? 255 : UInt8(x * 255 / width)
            pixels[at + 1] = isBright ? 255 : UInt8(y * 255 / height)
            pixels[at + 2] = isBright ? 255 : 64
        }
    }
}

let pixels = UnsafeMutableRawBufferPointer.allocate(byteCount: width * height * 4, alignment: 16)
let clock = ContinuousClock()
var next = clock.now
var number = 0
while true {
    // Nobody looks: no need to draw.
    if producer.isReceived(.video) {
        draw(number, into: pixels)
        // False when a picture was let go, as while it is paused: the next one is newer anyway.
        try producer.enqueueVideo(
            bgra: UnsafeRawBufferPointer(pixels), width: width, height: height, stride: width * 4)
    }
    number += 1
    next += .seconds(1) / rate
    try await clock.sleep(until: next)
}
