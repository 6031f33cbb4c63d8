/// How a unit is divided into blocks, and how much parity each gets.
package struct ParityPlan: Hashable, Sendable {
    package let data: Int
    package let blocks: Int
    /// Of the block number 0; the others have as many or one less.
    private let loss: Double

    /// A block that cannot be repaired without asking again shall be this rare.
    private static let target = 0.01

    /// - Parameter loss: the part of packets that is being lost, 0 for none seen.
    package init(data: Int, loss: Double) {
        self.data = max(1, data)
        self.loss = loss
        blocks = (self.data + DatagramLimits.blockData - 1) / DatagramLimits.blockData
    }

    /// Data packets of a block: even parts.
    package func blockData(_ block: Int) -> Int { data / blocks + (block < data % blocks ? 1 : 0) }

    package func blockParity(_ block: Int) -> Int { Self.parity(data: blockData(block), loss: loss) }

    package var total: Int {
        (0..<blocks).reduce(data) { $0 + blockParity($1) }
    }

    /// The smallest r with P(more than r of data + r are lost) ≤ 1 %, losses being independent: the binomial distribution,
    /// summed up from its first term. At least one once any loss is seen; never more than the data.
    package static func parity(data: Int, loss: Double) -> Int {
        guard loss > 0, data > 0 else { return 0 }
        let p = min(loss, 0.3)
        let most = min(max(data, 1), DatagramLimits.blockParity)
        for parity in 1..<max(most, 1) where failure(packets: data + parity, parity, p) <= target { return parity }
        return most
    }

    private static func failure(packets: Int, _ parity: Int, _ p: Double) -> Double {
        var term = 1.0
        for _ in 0..<packets { term *= 1 - p }
        var sum = term
        for lost in 1...max(parity, 1) where lost <= parity {
            term *= p / (1 - p) * Double(packets - lost + 1) / Double(lost)
            sum += term
        }
        return 1 - sum
    }
}
