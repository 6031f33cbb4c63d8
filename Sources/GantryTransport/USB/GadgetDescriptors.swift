/// What a FunctionFS function writes to ep0 before anything else: its descriptors and its strings.
///
/// One interface with a bulk endpoint to the host (0x81, the file ep1) and one from it (0x02, the file ep2), for full,
/// high and super speed. Layout: linux/usb/functionfs.h; descriptors: USB 2.0, 9.6 and USB 3.2, 9.6.7.
package enum GadgetDescriptors {
    /// FUNCTIONFS_DESCRIPTORS_MAGIC_V2.
    private static let descriptorsMagic: UInt32 = 3
    /// FUNCTIONFS_STRINGS_MAGIC.
    private static let stringsMagic: UInt32 = 2
    /// FUNCTIONFS_HAS_FS_DESC | FUNCTIONFS_HAS_HS_DESC | FUNCTIONFS_HAS_SS_DESC.
    private static let speeds: UInt32 = 1 | 2 | 4
    private static let englishUS: UInt16 = 0x0409
    private static let bulkIn: UInt8 = 0x81
    private static let bulkOut: UInt8 = 0x02

    package static var descriptors: [UInt8] {
        let full = interface + endpoint(bulkIn, 64) + endpoint(bulkOut, 64)
        let high = interface + endpoint(bulkIn, 512) + endpoint(bulkOut, 512)
        let superSpeed =
            interface + endpoint(bulkIn, 1024) + companion + endpoint(bulkOut, 1024) + companion
        // Number of descriptors for each speed, then the descriptors.
        let body = little(UInt32(3)) + little(UInt32(3)) + little(UInt32(5)) + full + high + superSpeed
        return little(descriptorsMagic) + little(UInt32(12 + body.count)) + little(speeds) + body
    }

    package static var strings: [UInt8] {
        let body =
            little(UInt32(1)) + little(UInt32(1)) + little(englishUS) + Array(USBProtocol.interfaceName.utf8) + [0]
        return little(stringsMagic) + little(UInt32(8 + body.count)) + body
    }

    /// bLength 9, INTERFACE, number and setting 0 (the kernel numbers them), two endpoints, the triple, string 1.
    private static var interface: [UInt8] {
        [
            9, 4, 0, 0, 2, USBProtocol.interfaceClass, USBProtocol.interfaceSubclass, USBProtocol.interfaceProtocol, 1,
        ]
    }

    /// bLength 7, ENDPOINT, address, bulk, wMaxPacketSize, no interval.
    private static func endpoint(_ address: UInt8, _ packetSize: UInt16) -> [UInt8] {
        [7, 5, address, 2] + little(packetSize) + [0]
    }

    /// bLength 6, SUPERSPEED_USB_ENDPOINT_COMPANION, bursts of 5 packets, no streams.
    private static var companion: [UInt8] { [6, 48, 4, 0, 0, 0] }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
