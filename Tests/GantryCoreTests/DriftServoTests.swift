import GantryCore
import GantryTestSupport
import Testing

@Suite struct DriftServoTests {
    /// The error in seconds after each of `seconds` seconds, of a sound that runs away by `ppm`.
    private func run(_ servo: inout DriftServo, ppm: Double, from start: Double = 0, seconds: Int) -> [Double] {
        var error = start
        return (0..<seconds).map { _ in
            error += ppm / 1e6 - (servo.speed - 1)
            _ = servo.update(error: .microseconds(Int64(error * 1e6)), elapsed: .seconds(1))
            return error
        }
    }

    @Test(arguments: [200.0, -200, 50, -400]) func aDriftIsLearned(_ ppm: Double) {
        var servo = DriftServo()
        let errors = run(&servo, ppm: ppm, seconds: 600)
        #expect(errors.allSatisfy { $0.magnitude < 0.005 })
        #expect(errors.suffix(300).allSatisfy { $0.magnitude < 0.0005 })
        #expect((servo.correctionPartsPerMillion - ppm).magnitude < 5)
    }

    @Test(arguments: [0.019, -0.019, 0.006]) func anErrorIsGoneInSeconds(_ start: Double) {
        var servo = DriftServo()
        let errors = run(&servo, ppm: 0, from: start, seconds: 120)
        #expect(errors[8].magnitude < 0.004)
        // Not swung far beyond.
        #expect(errors.dropFirst(9).allSatisfy { $0.magnitude < 0.004 })
        #expect(errors.suffix(20).allSatisfy { $0.magnitude < 0.001 })
    }

    @Test func aLargeErrorIsNoDrift() {
        var servo = DriftServo()
        _ = run(&servo, ppm: 200, seconds: 600)
        let learned = servo.speed
        #expect(servo.update(error: .milliseconds(21), elapsed: .seconds(1)) == .realign)
        #expect((servo.speed - learned).magnitude < 20e-6)
        #expect(servo.update(error: .microseconds(.min), elapsed: .microseconds(.max)) == .realign)
    }

    @Test func theSpeedIsBounded() {
        var servo = DriftServo()
        for _ in 0..<100_000 { _ = servo.update(error: .milliseconds(20), elapsed: .seconds(3600)) }
        #expect(servo.speed <= 1 + DriftServo.largestCorrection)
        for _ in 0..<100_000 { _ = servo.update(error: .milliseconds(-20), elapsed: .microseconds(-5)) }
        #expect(servo.speed >= 1 - DriftServo.largestCorrection)
    }

    @Test func theUsualWayIsFoundAmongLatePackets() throws {
        var window = ArrivalWindow()
        #expect(window.base(at: .init(microseconds: 0)) == nil)
        var random = SeededGenerator(seed: 1)
        for packet in 0..<300 {
            let time = Int64(packet) * 10_000
            // Seven of ten are held up.
            let late = packet % 10 < 3 ? 0 : Int64.random(in: 5_000...300_000, using: &random)
            window.add(stamp: .init(microseconds: time - 40_000_000), received: .init(microseconds: time + late))
        }
        #expect(try #require(window.base(at: .init(microseconds: 2_990_000))) == .microseconds(40_000_000))
        // A second without any.
        #expect(window.base(at: .init(microseconds: 5_000_000)) == nil)
        window.removeAll()
        #expect(window.base(at: .init(microseconds: 2_990_000)) == nil)
    }
}
