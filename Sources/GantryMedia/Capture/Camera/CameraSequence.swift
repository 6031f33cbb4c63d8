/// Numbers what a camera gives, with gaps where the driver says that it has lost pictures. Pure.
struct CameraSequence {
    private(set) var lostCount = 0
    private var number: UInt32
    private var last: UInt32?

    /// A larger step is no loss but a driver that counts in its own way.
    private static let most: UInt32 = 1000

    /// - Parameter first: the number of the first picture.
    init(first: UInt32 = 0) { number = first }

    /// - Parameter driver: `sequence` of v4l2_buffer. Simple drivers leave it at 0.
    mutating func next(_ driver: UInt32) -> UInt32 {
        guard let last else {
            self.last = driver
            return number
        }
        let step = driver &- last
        self.last = driver
        let real = 1...Self.most ~= step ? step : 1
        lostCount &+= Int(real) - 1
        number &+= real
        return number
    }
}
