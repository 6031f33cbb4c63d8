import CommandLineKit
import GantryCore
import GantryMedia
import StudioKit

/// `--play`: its options, and its figures at the end.
enum SoundOptions {
    private static let delays = MediaDuration.milliseconds(20)...MediaDuration.seconds(1)

    static let table = [
        Option(
            "play", value: "DEVICE",
            help: "Play the sound. DEVICE is a name of ALSA's, as `aplay -L` shows; hw:Loopback,0,0 is a virtual "
                + "microphone for other programs. Default: the usual device.",
            group: "Outputs", optionalValue: SoundOutput.deviceNames),
        Option(
            "play-delay", value: "TIME",
            help: "How long sound waits for packets that are late, 20ms to 1s. Default: 50ms.", group: "Outputs",
            form: .duration(delays)),
    ]

    /// Opens the device.
    static func output(_ arguments: ParsedArguments) throws(GantryError) -> SoundOutput? {
        let delay = try arguments.value("play-delay", "a time from 20ms to 1s, as in 80ms") { text in
            MediaDuration(text: text).flatMap { delays.contains($0) ? $0 : nil }
        }
        guard let device = arguments.string("play") else {
            guard delay == nil else {
                throw GantryError(.invalidArgument, "--play-delay is for the sound device: give --play as well.")
            }
            return nil
        }
        return try SoundOutput(device: device.isEmpty ? nil : device, delay: delay ?? SoundPlayer.defaultDelay)
    }

    static func lines(_ output: SoundOutput) -> [String] {
        let figures = output.figures
        var text =
            "Sound played: \(Figures.count(figures.underruns, "gap")), "
            + "\(milliseconds(figures.delay)) ms after it came (\(milliseconds(figures.targetDelay)) meant), "
            + "\(Int(figures.correctionPartsPerMillion.rounded())) ppm faster."
        if let lag = output.medianLag {
            text += " Heard \(Figures.milliseconds(lag.microseconds)) ms after the picture."
        }
        if figures.deviceLosses > 0 { text += " The device was lost \(Figures.count(figures.deviceLosses, "time"))." }
        return [text]
    }

    static func json(_ output: SoundOutput) -> JSONValue.Member {
        let figures = output.figures
        func number(_ name: String, _ value: Int) -> JSONValue.Member { .init(name, .integer(Int64(value))) }
        var fields = [
            number("underruns", figures.underruns), number("realignments", figures.realignments),
            number("deviceLosses", figures.deviceLosses), number("samplesDropped", figures.samplesDropped),
            JSONValue.Member("correctionPartsPerMillion", .number(figures.correctionPartsPerMillion)),
            number("delayMicroseconds", Int(clamping: figures.delay.microseconds)),
            number("targetMicroseconds", Int(clamping: figures.targetDelay.microseconds)),
            number("deviationMicroseconds", Int(clamping: figures.deviation.microseconds)),
            number("largestDeviationMicroseconds", Int(clamping: figures.largestDeviation.microseconds)),
        ]
        if let lag = output.medianLag { fields.append(number("lagMicroseconds", lag.microseconds)) }
        return .init("sound", .object(fields))
    }

    private static func milliseconds(_ duration: MediaDuration) -> String {
        Figures.milliseconds(Int(clamping: duration.microseconds))
    }
}
