/// How the numbers of a picture become colours: code points of ITU-T H.273 (ISO/IEC 23091-2), as in the VUI of H.264.
public struct ColorDescription: Hashable, Sendable {
    /// H.273 ColourPrimaries: 1 BT.709, 6 BT.601 525 lines, 2 unspecified.
    public var primaries: UInt8
    /// H.273 TransferCharacteristics.
    public var transfer: UInt8
    /// H.273 MatrixCoefficients.
    public var matrix: UInt8
    /// True: luma 0…255 (JPEG). False: 16…235.
    public var isFullRange: Bool

    /// The numbers of ITU-T H.273; 2 says that it is not known.
    public init(primaries: UInt8, transfer: UInt8, matrix: UInt8, isFullRange: Bool = false) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.isFullRange = isFullRange
    }

    /// HD video: ITU-R BT.709, limited range.
    public static let bt709 = Self(primaries: 1, transfer: 1, matrix: 1)
    /// SD video: ITU-R BT.601 (525 lines), limited range.
    public static let bt601 = Self(primaries: 6, transfer: 6, matrix: 6)
    /// Nothing is known.
    public static let unspecified = Self(primaries: 2, transfer: 2, matrix: 2)

    /// What a picture without a description is taken for: BT.709 from 720 lines on, BT.601 below.
    public static func assumed(forHeight height: Int) -> Self { height >= 720 ? bt709 : bt601 }
}
