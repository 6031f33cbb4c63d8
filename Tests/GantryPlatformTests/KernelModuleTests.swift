import GantryPlatform
import Glibc
import Testing

@Suite struct KernelModuleTests {
    /// As root modprobe runs and finds nothing; otherwise, or without modprobe, it is refused earlier.
    @Test func aModuleThatIsNotThereIsSaid() {
        let error = #expect(throws: SystemError.self) { try KernelModule.load("gantry-has-no-such-module") }
        #expect([ENODEV, EPERM, ENOENT].contains(error?.errno))
        #expect(error?.operation == "modprobe gantry-has-no-such-module")
    }
}
