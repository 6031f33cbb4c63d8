import CommandLineKit
import GantryCore
import Testing

@Suite struct ExitStatusTests {
    @Test(
        arguments: [
            (.general, 1), (.encoder, 1), (.cancelled, 1), (.invalidArgument, 2), (.sourceNotFound, 3),
            (.unsupportedCodec, 3),
            (.outputNotWritable, 4), (.outputFull, 4), (.cannotConnect, 5), (.portInUse, 5), (.peerLost, 5),
            (.discoveryUnavailable, 5),
            (.notPaired, 6),
            (.unpairedByPeer, 6), (.wrongPeer, 6), (.unknownDevice, 6), (.pairingTimeout, 7), (.pairingCodeInvalid, 7),
            (.versionMismatch, 8), (.protocolError, 8), (.stateFolder, 9), (.store, 9), (.identity, 9),
            (.usbNoController, 10), (.usbControllerTaken, 10), (.usbGadgetInUse, 10),
        ] as [(GantryError.Code, Int32)])
    func ofAnError(code: GantryError.Code, status: Int32) {
        #expect(ExitStatus(code).rawValue == status)
    }
}
