// Receives from a producer, and writes one of its pictures into a PNG file.
//
//     gantry-studio pair                             once: shows the code for the producer
//     gantry-example-receive FILE.png [NAME]         from the only producer that is paired, or from that one

import StudioKit

/// Hands on the pictures of a session. An own view would draw them in `receive`, with `VideoFrame.copyBGRA`.
final class Pictures: VideoOutput {
    /// The newest only: whoever is slow misses pictures, and holds up nobody.
    let frames: AsyncStream<VideoFrame>
    private let continuation: AsyncStream<VideoFrame>.Continuation

    init() { (frames, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func receive(_ frame: VideoFrame) { continuation.yield(frame) }
    func videoEnded() { continuation.finish() }
}

let words = Array(CommandLine.arguments.dropFirst())
guard let path = words.first else {
    print("Say where to: gantry-example-receive FILE.png [NAME]")
    throw GantryError(.invalidArgument, "There is no file name.")
}

let pictures = Pictures()
var configuration = StudioSessionConfiguration()
configuration.wantsAudio = false
configuration.videoOutputs = [pictures]

let studio = try StudioController()
let session = studio.makeSession(try studio.target(words.dropFirst().first), configuration: configuration)
let events = session.events
try session.start()

var count = 0
for await frame in pictures.frames {
    count += 1
    // The first picture of a stream is its worst.
    guard count == 15 else { continue }
    try frame.writePNG(to: path)
    print("\(path): \(frame.width)x\(frame.height)")
    session.close()
}

for await event in events {
    if case .ended(let error?) = event { throw error }
}
