import CLibAV
import GantryCore
import Glibc

/// libavdevice, which teaches libavformat to read screens. Loaded when it is wanted first: it draws 200 libraries in,
/// which would make every start of a tool slow, and is needed for nothing else.
enum DeviceLibrary {
    /// The one that belongs to the libavformat we are linked with.
    static let fileName = "libavdevice.so.\(CLibAV_DEVICE_VERSION_MAJOR)"
    /// Debian's and Ubuntu's name for it.
    static let packageName = "libavdevice\(CLibAV_DEVICE_VERSION_MAJOR)"

    /// Any thread, any number of times.
    ///
    /// - Throws: `sourceNotFound` with the package to install.
    static func load() throws(GantryError) {
        guard let failure = outcome else { return }
        throw GantryError(
            .sourceNotFound,
            "Screens need \(fileName), which cannot be loaded. Install it with: sudo apt-get install \(packageName)",
            cause: failure)
    }

    /// Why it cannot be used; nil when it can.
    private static let outcome: String? = {
        dlerror()
        func failure(_ other: String) -> String { dlerror().map { String(cString: $0) } ?? other }
        guard let library = dlopen(fileName, RTLD_NOW | RTLD_LOCAL) else { return failure("not found") }
        guard let symbol = dlsym(library, "avdevice_register_all") else { return failure("not an FFmpeg library") }
        // It stays loaded: libavformat holds pointers into it from now on.
        unsafeBitCast(symbol, to: (@convention(c) () -> Void).self)()
        return nil
    }()
}
