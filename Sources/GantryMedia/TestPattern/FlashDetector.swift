/// Reads the mark that the test pattern shows in the first picture of each second. Pure.
package enum FlashDetector {
    /// Only for pictures that carry a readable `TimeCode`.
    package static func isLit(in picture: Picture) -> Bool {
        guard let area = TestPatternLayout(width: picture.width, height: picture.height)?.flash else { return false }
        // The middle half of the mark: its edges are smeared by coding.
        let luma = picture.plane(0)
        var sum = 0
        var count = 0
        for y in stride(from: area.y + area.height / 4, to: area.y + area.height * 3 / 4, by: 2) {
            for x in stride(from: area.x + area.width / 4, to: area.x + area.width * 3 / 4, by: 2) {
                sum += Int(luma[y * picture.stride(0) + x])
                count += 1
            }
        }
        // Half way between dark (64) and white (235).
        return count > 0 && sum / count > 150
    }
}
