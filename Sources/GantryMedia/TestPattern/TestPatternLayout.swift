/// Where the parts of the test pattern lie. All values are even, so that chroma falls on whole samples.
///
/// From top to bottom: the time code with its margin, the colour bars, and a band with the flash, the clock and the
/// moving square.
package struct TestPatternLayout: Sendable, Equatable {
    package struct Area: Sendable, Equatable {
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int
    }

    /// Everything the time code covers, with margin.
    package let code: Area
    /// All eight bars; each is an eighth of the width, rounded down to even, the last takes the rest.
    package let bars: Area
    /// Redrawn for each picture: holds `flash`, `clock` and the square.
    package let band: Area
    /// White in the first picture at or after each full second of the pattern's time line, otherwise black.
    package let flash: Area
    package let clock: Area
    /// The square's side; it runs through `track`.
    package let side: Int
    package let track: Area

    /// Nil when the picture is smaller than 160x120.
    package init?(width: Int, height: Int) {
        guard width >= TestPatternConfiguration.minimumWidth, height >= TestPatternConfiguration.minimumHeight,
            let layout = TimeCode.Layout(width: width, height: height)
        else { return nil }
        code = Area(x: 0, y: 0, width: width, height: layout.height)
        let bandHeight = max(32, height / 5 & ~1)
        bars = Area(x: 0, y: code.height, width: width, height: height - code.height - bandHeight)
        band = Area(x: 0, y: height - bandHeight, width: width, height: bandHeight)
        let half = bandHeight / 2 & ~1
        let margin = max(4, bandHeight / 16 & ~1)
        side = half - 2 * margin
        flash = Area(x: margin, y: band.y + margin, width: side, height: side)
        clock = Area(
            x: flash.x + side + margin, y: band.y + margin, width: width - side - 3 * margin & ~1, height: side)
        track = Area(x: 0, y: band.y + half + margin, width: width, height: side)
    }

    /// The bar with that number (0…7).
    package func bar(_ index: Int) -> Area {
        let step = bars.width / 8 & ~1
        let x = step * index
        return Area(x: x, y: bars.y, width: index == 7 ? bars.width - x : step, height: bars.height)
    }
}
