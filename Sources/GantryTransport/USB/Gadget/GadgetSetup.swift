package import GantryCore
import GantryPlatform
import Glibc

/// A gadget that is ready for a producer to open.
package struct PreparedGadget: Sendable, Hashable {
    package enum Origin: Sendable, Hashable {
        case made
        /// Something of a run that ended without cleaning up was there.
        case takenOver
        /// Somebody else's gadget that has our function.
        case adopted
    }
    /// Its name in configfs.
    package let gadget: String
    /// The folder with `ep0`.
    package let mountPoint: String
    package let origin: Origin
    /// What `bind` will take, if it is still free then.
    package let controller: USBController
}

/// Makes this machine's USB gadget in configfs, puts it on a device controller, and takes it away again
/// (Documentation/usb/gadget_configfs.rst and functionfs.rst in the kernel's sources).
///
///     prepare()   gadget, strings, configuration, function, link, FunctionFS mounted
///                 … the producer opens ep0 and writes descriptors and strings …
///     bind()      onto the controller; the host sees a device
///     unbind()    off it again
///     remove()    the same in reverse; what others have in the gadget stays
///
/// When `ep0` is closed the kernel takes the whole gadget off its controller, and nothing puts it back: call `bind` again
/// when descriptors are written again. Blocks for as long as the kernel does (a tenth of a second). Any thread.
package final class GadgetSetup: @unchecked Sendable {  // `prepared` and below are guarded by `access`.
    package let configuration: GadgetConfiguration
    private let files: any GadgetFiles
    // Held across calls to the kernel: nothing on the way of media takes it.
    private let access = Lock()
    private var prepared: PreparedGadget?
    private var processLock: FileDescriptor?
    private var hasMounted = false
    /// Where `bind` put it; nil after `unbind`.
    private var boundTo: String?

    package init(_ configuration: GadgetConfiguration, files: any GadgetFiles = KernelGadgetFiles()) {
        self.configuration = configuration
        self.files = files
    }

    // MARK: The four steps

    /// Makes what is missing. Does nothing but return the same when it was called before.
    ///
    /// A gadget of ours that a crashed run left is taken over. When another gadget has our function, that one is
    /// adopted: nothing in it is changed, and `remove` leaves it.
    ///
    /// - Parameter adopting: only this gadget, which must have our function.
    /// - Throws: `usbGadget`, `usbNotPermitted`, `usbNoController`, `usbControllerTaken`, `usbGadgetInUse`,
    ///   `invalidArgument`. Nothing is left behind then.
    package func prepare(adopting name: String? = nil) throws(GantryError) -> PreparedGadget {
        try configuration.check()
        return try access.withLock { () throws(GantryError) -> PreparedGadget in
            if let prepared { return prepared }
            try requireGadgets()
            if let name, !hasFunction(name) { throw GadgetFailure.functionMissing(configuration.function, in: name) }
            let gadget = name ?? holder ?? configuration.gadget
            let isTheirs = gadget != configuration.gadget
            let controller = try chooseController(for: gadget)
            let isLeftOver = files.exists(folder(gadget))
            do throws(GantryError) {
                if isTheirs { try adopt(gadget) } else { try make(gadget) }
                let mountPoint = try mount(replacing: !isTheirs)
                let result = PreparedGadget(
                    gadget: gadget, mountPoint: mountPoint,
                    origin: isTheirs ? .adopted : isLeftOver ? .takenOver : .made, controller: controller)
                prepared = result
                return result
            } catch {
                // Without the lock it is another process's.
                if processLock != nil { _ = dismantle(gadget, isTheirs: isTheirs) }
                processLock = nil
                throw error
            }
        }
    }

    /// Puts the gadget on its controller. Does nothing when it is on one.
    ///
    /// - Throws: `invalidState` before `prepare`, or while no descriptors are written; otherwise as `prepare`.
    @discardableResult
    package func bind() throws(GantryError) -> USBController {
        try access.withLock { () throws(GantryError) -> USBController in
            guard let prepared else {
                throw GantryError(.invalidState, "The gadget is not there yet: prepare comes before bind.")
            }
            if let name = controllerName(prepared.gadget) {
                boundTo = name
                return controllers().first { $0.name == name } ?? prepared.controller
            }
            // The kernel's answer to this, EBUSY, is the same as for a controller that is taken.
            guard files.exists(prepared.mountPoint + "/ep1") else {
                throw GadgetFailure.notDescribed(prepared.mountPoint)
            }
            let controller = try chooseController(for: prepared.gadget)
            try put(prepared.gadget, on: controller)
            boundTo = controller.name
            return controllers().first { $0.name == controller.name } ?? controller
        }
    }

    /// Takes the gadget off its controller: to the host it is unplugged. Does nothing when it is on none.
    package func unbind() throws(GantryError) {
        try access.withLock { () throws(GantryError) in
            guard let prepared else { return }
            boundTo = nil
            try takeOff(prepared.gadget)
        }
    }

    /// Takes away what `prepare` made. Close `ep0` before: otherwise the FunctionFS ends only with the last file in it.
    ///
    /// Functions of others in our gadget stay, on the controller where they were.
    ///
    /// - Throws: the first failure; the other steps are tried all the same.
    package func remove() throws(GantryError) {
        try access.withLock { () throws(GantryError) in
            guard let prepared else { return }
            let controller = boundTo
            let isTheirs = prepared.origin == .adopted
            var failure = dismantle(prepared.gadget, isTheirs: isTheirs)
            if let controller, !isTheirs, !linkedFunctions(prepared.gadget).isEmpty {
                do throws(SystemError) {
                    try files.write(controller, to: folder(prepared.gadget) + "/UDC")
                } catch {
                    failure = failure ?? GadgetFailure.step("put the other functions back on \(controller)", error)
                }
            }
            self.prepared = nil
            processLock = nil
            boundTo = nil
            if let failure { throw failure }
        }
    }

    // MARK: What is there

    private func folder(_ gadget: String) -> String { "\(configuration.gadgetsFolder)/\(gadget)" }
    private var functionName: String { "ffs.\(configuration.function)" }

    private func controllers() -> [USBController] {
        USBController.list(
            controllersFolder: configuration.controllersFolder, gadgetsFolder: configuration.gadgetsFolder,
            files: files)
    }

    /// The controller that the gadget is on.
    private func controllerName(_ gadget: String) -> String? {
        guard let name = try? files.read(folder(gadget) + "/UDC"), !name.isEmpty else { return nil }
        return name
    }

    /// The configurations that have our function.
    private func links(_ gadget: String) -> [String] {
        let configurations = folder(gadget) + "/configs"
        return files.entries(configurations)
            .map { "\(configurations)/\($0)/\(functionName)" }.filter(files.exists)
    }

    private func hasFunction(_ gadget: String) -> Bool { !links(gadget).isEmpty }

    /// A gadget of somebody else that has our function.
    private var holder: String? {
        files.entries(configuration.gadgetsFolder).first { $0 != configuration.gadget && hasFunction($0) }
    }

    /// Functions in the configurations, ours and others'. A function's name is `driver.instance`; nothing else there has
    /// a dot.
    private func linkedFunctions(_ gadget: String) -> [String] {
        let configurations = folder(gadget) + "/configs"
        return files.entries(configurations).flatMap { files.entries("\(configurations)/\($0)") }
            .filter { $0.contains(".") }
    }

    private func hasOtherFunctions(_ gadget: String) -> Bool {
        files.entries(folder(gadget) + "/functions").contains { $0 != functionName }
    }

    private func requireGadgets() throws(GantryError) {
        guard !files.exists(configuration.gadgetsFolder) else { return }
        var cause: SystemError?
        do throws(SystemError) { try files.loadModule("libcomposite") } catch { cause = error }
        guard files.exists(configuration.gadgetsFolder) else {
            throw GadgetFailure.noGadgets(configuration.gadgetsFolder, cause: cause)
        }
    }

    // MARK: Controllers

    /// The one that is named, or the only free one. Never one that somebody else has.
    private func chooseController(for gadget: String) throws(GantryError) -> USBController {
        let all = controllers()
        guard !all.isEmpty else { throw GadgetFailure.noController() }
        if let mine = all.first(where: { $0.user == .gadget(gadget) }) { return mine }
        if let wanted = configuration.controller {
            guard let named = all.first(where: { $0.name == wanted }) else {
                throw GadgetFailure.unknownController(wanted, among: all)
            }
            guard named.user == nil else { throw GadgetFailure.taken([named]) }
            return named
        }
        let free = all.filter { $0.user == nil }
        guard let first = free.first else { throw GadgetFailure.taken(all) }
        guard free.count == 1 else { throw GadgetFailure.choice(free) }
        return first
    }

    private func put(_ gadget: String, on controller: USBController) throws(GantryError) {
        do throws(SystemError) {
            try files.write(controller.name, to: folder(gadget) + "/UDC")
        } catch {
            // Somebody was quicker, or the controller has gone.
            let now = controllers().first { $0.name == controller.name }
            guard let now else { throw GadgetFailure.noController() }
            if let user = now.user, user != .gadget(gadget) { throw GadgetFailure.taken([now]) }
            throw GadgetFailure.step("put the gadget on \(controller.name)", error)
        }
    }

    private func takeOff(_ gadget: String) throws(GantryError) {
        guard controllerName(gadget) != nil else { return }
        do throws(SystemError) {
            try files.write("", to: folder(gadget) + "/UDC")
        } catch {
            // It was taken off meanwhile: ep0 was closed.
            guard error.errno != ENODEV else { return }
            throw GadgetFailure.step("take the gadget off its controller", error)
        }
    }

    // MARK: Making

    /// Runs a step; `what` completes "the kernel refused to …".
    private func step(_ what: String, _ body: () throws(SystemError) -> Void) throws(GantryError) {
        do throws(SystemError) { try body() } catch { throw GadgetFailure.step(what, error) }
    }

    private func makeFolder(_ path: String) throws(SystemError) {
        do throws(SystemError) { try files.makeFolder(path) } catch { guard error.errno == EEXIST else { throw error } }
    }

    /// Another process that is between `prepare` and `remove` has the same gadget.
    private func lockGadget(_ gadget: String) throws(GantryError) {
        do throws(SystemError) {
            processLock = try files.lock(folder(gadget))
        } catch {
            if error.errno == EWOULDBLOCK { throw GadgetFailure.inUse(gadget, cause: error) }
            throw GadgetFailure.step("lock the gadget", error)
        }
    }

    private func adopt(_ gadget: String) throws(GantryError) {
        try lockGadget(gadget)
        if controllerName(gadget) != nil {
            processLock = nil
            throw GadgetFailure.inUse(gadget)
        }
    }

    private func make(_ gadget: String) throws(GantryError) {
        let root = folder(gadget)
        try step("make a USB gadget") { () throws(SystemError) in try makeFolder(root) }
        try lockGadget(gadget)
        if let controller = controllerName(gadget) {
            // On a controller with our function, `ep0` is open: the kernel takes it off when that is closed.
            processLock = nil
            guard hasFunction(gadget) else {
                throw GadgetFailure.boundWithoutUs(gadget, controller, root: configuration.gadgetsFolder)
            }
            throw GadgetFailure.inUse(gadget)
        }
        try describe(root, isShared: hasOtherFunctions(gadget))
        try makeFunction(root)
    }

    /// Ids and strings. In a gadget that has functions of others, only what nobody has set.
    private func describe(_ root: String, isShared: Bool) throws(GantryError) {
        let ids = configuration.identifiers
        let hexadecimal = USBIdentifiers.hexadecimal
        let strings = root + "/strings/0x409"  // English (United States), which every host asks for.
        try step("describe the gadget") { () throws(SystemError) in
            let isUnset = { (path: String) in
                guard isShared, let text = try? self.files.read(path) else { return true }
                return text.isEmpty || text == "0x0000"
            }
            if isUnset(root + "/idVendor") {
                try files.write(hexadecimal(ids.vendor), to: root + "/idVendor")
                try files.write(hexadecimal(ids.product), to: root + "/idProduct")
            }
            try makeFolder(root + "/strings")
            try makeFolder(strings)
            for (name, text) in [
                ("manufacturer", configuration.manufacturer), ("product", configuration.product),
                ("serialnumber", configuration.serial),
            ] where isUnset("\(strings)/\(name)") {
                try files.write(text, to: "\(strings)/\(name)")
            }
        }
    }

    /// The function, in the configuration that is there, or a new one.
    private func makeFunction(_ root: String) throws(GantryError) {
        let configurations = root + "/configs"
        let chosen = "\(configurations)/\(files.entries(configurations).first ?? "c.1")"
        try step("make the gadget's configuration") { () throws(SystemError) in
            try makeFolder(configurations)
            try makeFolder(chosen)
        }
        let function = "\(root)/functions/\(functionName)"
        do throws(SystemError) {
            try makeFolder(root + "/functions")
            try makeFolder(function)
        } catch {
            // The kernel looks for the module itself.
            if error.errno == ENOENT { throw GadgetFailure.noFunctionFS(error) }
            throw GadgetFailure.step("make the function ffs.\(configuration.function)", error)
        }
        guard links(String(root.split(separator: "/").last ?? "")).isEmpty else { return }
        try step("put the function into the configuration") { () throws(SystemError) in
            try files.makeLink("\(chosen)/\(functionName)", to: function)
        }
    }

    // MARK: The mount

    /// - Parameter replacing: unmounts what a crashed run left, so that owner and place are as configured.
    private func mount(replacing: Bool) throws(GantryError) -> String {
        let mine = files.mounts().filter { $0.function == configuration.function }
        if !replacing, let there = mine.first { return there.path }
        for left in mine {
            do throws(SystemError) {
                try files.unmount(left.path, evenIfBusy: false)
            } catch {
                // Somebody has `ep0` open, and has not bound yet. What that one needs is not taken down.
                processLock = nil
                if error.errno == EBUSY { throw GadgetFailure.inUse(configuration.gadget, cause: error) }
                throw GadgetFailure.step("unmount the FunctionFS of an earlier run", error)
            }
        }
        if let other = files.mounts().first(where: { $0.path == configuration.mountPoint }) {
            throw GadgetFailure.mountPointTaken(other)
        }
        try step("make the folder \(configuration.mountPoint)") { () throws(SystemError) in
            try makeFolders(configuration.mountPoint)
        }
        let mount = FunctionFSMount(function: configuration.function, path: configuration.mountPoint)
        do throws(SystemError) {
            try files.mount(mount, owner: configuration.owner)
        } catch {
            if error.errno == ENODEV { throw GadgetFailure.noFunctionFS(error) }
            throw GadgetFailure.step("mount the FunctionFS", error)
        }
        hasMounted = true
        return configuration.mountPoint
    }

    /// `mkdir -p`.
    private func makeFolders(_ path: String) throws(SystemError) {
        var done = ""
        for part in path.split(separator: "/") {
            done += "/" + part
            if !files.exists(done) { try makeFolder(done) }
        }
    }

    // MARK: Taking away

    /// Everything of ours, as far as it is there. Returns the first failure.
    private func dismantle(_ gadget: String, isTheirs: Bool) -> GantryError? {
        var first: GantryError?
        let attempt = { (what: String, body: () throws(SystemError) -> Void) in
            do throws(SystemError) { try body() } catch {
                if error.errno != ENOENT { first = first ?? GadgetFailure.step(what, error) }
            }
        }
        do throws(GantryError) { try takeOff(gadget) } catch { first = error }
        if !isTheirs {
            for link in links(gadget) {
                attempt("take the function out") { () throws(SystemError) in try files.removeLink(link) }
            }
        }
        if hasMounted || !isTheirs {
            for mount in files.mounts() where mount.function == configuration.function {
                attempt("unmount the FunctionFS") { () throws(SystemError) in try unmount(mount.path) }
            }
            hasMounted = false
        }
        guard !isTheirs else { return first }
        let root = folder(gadget)
        attempt("remove the function") { () throws(SystemError) in
            try files.removeFolder("\(root)/functions/\(functionName)")
        }
        guard !hasOtherFunctions(gadget) else { return first }
        let strings = { (of: String) in self.files.entries("\(of)/strings").map { "\(of)/strings/\($0)" } }
        var folders: [String] = []
        for configuration in files.entries(root + "/configs").map({ "\(root)/configs/\($0)" }) {
            folders += strings(configuration) + [configuration]
        }
        for path in folders + strings(root) + [root] {
            attempt("remove the gadget") { () throws(SystemError) in try files.removeFolder(path) }
        }
        return first
    }

    private func unmount(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try files.unmount(path, evenIfBusy: false)
        } catch {
            guard error.errno == EBUSY else { throw error }
            try files.unmount(path, evenIfBusy: true)
        }
    }
}
