import GantryPlatform
import GantryTransport
import Glibc

/// A model of configfs, sysfs and FunctionFS, with the answers of a 6.1 kernel (measured in the virtual machine).
///
/// It writes down what is done, and can let any step fail.
final class ModelKernel: GadgetFiles, @unchecked Sendable {  // One test, one thread.
    static let gadgets = "/gadgets"
    static let controllers = "/udc"

    enum Node: Equatable {
        case folder
        case file(String)
        case link(String)
    }
    struct Entry: Equatable {
        var node: Node
        /// Made by the kernel with its folder, and gone with it.
        var isAutomatic: Bool
    }
    struct State: Equatable {
        var tree: [String: Entry] = [:]
        var mounts: [FunctionFSMount] = []
        /// Functions whose `ep0` is open.
        var open: Set<String> = []
    }

    var state = State()
    /// What was done, in order, without the folders above.
    private(set) var done: [String] = []
    /// The step, counted from 0, that fails, and how.
    var failing: (step: Int, errno: CInt)?
    /// Called before a controller's name is written.
    var beforeBind: () -> Void = {}
    var hasFunctionFS = true
    var isRoot = true
    /// Folders that another process has locked.
    var locked: Set<String> = []
    /// What `loadModule` makes appear.
    var moduleBrings: String?
    private(set) var owner: GadgetOwner?

    init(controllers: [String] = ["udc.0"], hasGadgets: Bool = true) {
        for folder in ["/", Self.controllers] { automatic(folder, .folder) }
        if hasGadgets { automatic(Self.gadgets, .folder) }
        for name in controllers {
            let folder = "\(Self.controllers)/\(name)"
            automatic(folder, .folder)
            automatic("\(folder)/state", .file("not attached"))
            automatic("\(folder)/maximum_speed", .file("high-speed"))
            automatic("\(folder)/function", .file(""))
        }
    }

    private func automatic(_ path: String, _ node: Node) { state.tree[path] = Entry(node: node, isAutomatic: true) }

    // MARK: What others do

    /// A gadget of somebody else.
    func addGadget(_ name: String, functions: [String], ids: String = "0x1d6b", on controller: String? = nil) throws {
        let root = "\(Self.gadgets)/\(name)"
        try makeFolder(root)
        try write(ids, to: root + "/idVendor")
        try makeFolder(root + "/strings/0x409")
        try write("theirs", to: root + "/strings/0x409/product")
        try makeFolder(root + "/configs/c.1")
        for function in functions {
            try makeFolder("\(root)/functions/\(function)")
            try makeLink("\(root)/configs/c.1/\(function)", to: "\(root)/functions/\(function)")
        }
        if let controller { try write(controller, to: root + "/UDC") }
        done = []
    }

    /// A driver that is a whole gadget.
    func occupy(_ controller: String, by driver: String) {
        automatic("\(Self.controllers)/\(controller)/function", .file(driver))
    }

    /// The producer opens `ep0` and writes descriptors.
    func openFunction(_ function: String = "gantry", described: Bool = true) {
        state.open.insert(function)
        guard described, let mount = state.mounts.first(where: { $0.function == function }) else { return }
        for name in ["ep1", "ep2"] { automatic("\(mount.path)/\(name)", .file("")) }
    }

    func closeFunction(_ function: String = "gantry") {
        state.open.remove(function)
        for mount in state.mounts where mount.function == function {
            for name in ["ep1", "ep2"] { state.tree["\(mount.path)/\(name)"] = nil }
        }
        for gadget in entries(Self.gadgets) where exists("\(Self.gadgets)/\(gadget)/functions/ffs.\(function)") {
            release(gadget)
        }
    }

    func text(_ path: String) -> String? {
        guard case .file(let text)? = state.tree[path]?.node else { return nil }
        return text
    }

    func forget() { done = [] }

    // MARK: The kernel

    private func step(_ what: String) throws(SystemError) {
        let number = done.count
        done.append(what.replacing(Self.gadgets + "/", with: ""))
        if let failing, failing.step == number { throw SystemError(errno: failing.errno, during: what) }
        if !isRoot { throw SystemError(errno: EACCES, during: what) }
    }

    func exists(_ path: String) -> Bool {
        if case .link(let target)? = state.tree[path]?.node { return state.tree[target] != nil }
        return state.tree[path] != nil
    }

    func entries(_ path: String) -> [String] {
        state.tree.keys.filter { $0.hasPrefix(path + "/") && !$0.dropFirst(path.count + 1).contains("/") }
            .map { String($0.dropFirst(path.count + 1)) }.sorted()
    }

    func read(_ path: String) throws(SystemError) -> String {
        guard let text = text(path) else { throw SystemError(errno: ENOENT, during: path) }
        return text
    }

    func write(_ text: String, to path: String) throws(SystemError) {
        if path.hasSuffix("/UDC"), !text.isEmpty { beforeBind() }
        try step("write \(path) \(text)")
        guard self.text(path) != nil else { throw SystemError(errno: EACCES, during: path) }
        guard path.hasSuffix("/UDC") else { return automatic(path, .file(text)) }
        let gadget = String(path.split(separator: "/")[1])
        if text.isEmpty {
            if self.text(path) == "" { throw SystemError(errno: ENODEV, during: path) }
            return release(gadget)
        }
        let functions = entries("\(Self.gadgets)/\(gadget)/configs").flatMap {
            entries("\(Self.gadgets)/\(gadget)/configs/\($0)")
        }
        let isDescribed = functions.filter { $0.hasPrefix("ffs.") }.allSatisfy { function in
            state.mounts.contains { "ffs." + $0.function == function && exists($0.path + "/ep1") }
        }
        guard self.text(path) == "", self.text("\(Self.controllers)/\(text)/function") == "", isDescribed else {
            throw SystemError(errno: EBUSY, during: path)
        }
        automatic(path, .file(text))
        automatic("\(Self.controllers)/\(text)/function", .file(gadget))
    }

    private func release(_ gadget: String) {
        let path = "\(Self.gadgets)/\(gadget)/UDC"
        if let controller = text(path), !controller.isEmpty {
            automatic("\(Self.controllers)/\(controller)/function", .file(""))
        }
        automatic(path, .file(""))
    }

    func makeFolder(_ path: String) throws(SystemError) {
        try step("mkdir \(path)")
        if state.tree[path] != nil { throw SystemError(errno: EEXIST, during: path) }
        let parts = path.split(separator: "/").map(String.init)
        let parent = "/" + parts.dropLast().joined(separator: "/")
        guard exists(parent) else { throw SystemError(errno: ENOENT, during: path) }
        if parent.hasSuffix("/functions"), let name = parts.last, name.hasPrefix("ffs.") {
            guard hasFunctionFS else { throw SystemError(errno: ENOENT, during: path) }
            let isTaken = entries(Self.gadgets).contains { exists("\(Self.gadgets)/\($0)/functions/\(name)") }
            if isTaken { throw SystemError(errno: EBUSY, during: path) }
        }
        state.tree[path] = Entry(node: .folder, isAutomatic: false)
        if parent == Self.gadgets {
            for name in ["strings", "configs", "functions"] { automatic("\(path)/\(name)", .folder) }
            for name in ["idVendor", "idProduct"] { automatic("\(path)/\(name)", .file("0x0000")) }
            automatic("\(path)/UDC", .file(""))
        } else if parent.hasSuffix("/configs") {
            automatic(path + "/strings", .folder)
            automatic(path + "/MaxPower", .file("500"))
        } else if parent.hasSuffix("/strings") {
            for name in ["manufacturer", "product", "serialnumber"] { automatic("\(path)/\(name)", .file("")) }
        }
    }

    func removeFolder(_ path: String) throws(SystemError) {
        try step("rmdir \(path)")
        guard state.tree[path]?.node == .folder else { throw SystemError(errno: ENOENT, during: path) }
        let inside = state.tree.filter { $0.key.hasPrefix(path + "/") }
        guard inside.values.allSatisfy(\.isAutomatic) else { throw SystemError(errno: ENOTEMPTY, during: path) }
        guard !state.tree.values.contains(where: { $0.node == .link(path) }) else {
            throw SystemError(errno: EBUSY, during: path)
        }
        for key in inside.keys { state.tree[key] = nil }
        state.tree[path] = nil
    }

    func makeLink(_ path: String, to target: String) throws(SystemError) {
        try step("link \(path)")
        guard state.tree[path] == nil else { throw SystemError(errno: EEXIST, during: path) }
        guard exists(target) else { throw SystemError(errno: ENOENT, during: path) }
        let gadget = path.split(separator: "/")[1]
        guard text("\(Self.gadgets)/\(gadget)/UDC") == "" else { throw SystemError(errno: EINVAL, during: path) }
        state.tree[path] = Entry(node: .link(target), isAutomatic: false)
    }

    func removeLink(_ path: String) throws(SystemError) {
        try step("unlink \(path)")
        guard state.tree[path] != nil else { throw SystemError(errno: ENOENT, during: path) }
        state.tree[path] = nil
        release(String(path.split(separator: "/")[1]))
    }

    func mount(_ mount: FunctionFSMount, owner: GadgetOwner) throws(SystemError) {
        try step("mount \(mount.function) \(mount.path)")
        let hasFunction = entries(Self.gadgets)
            .contains { exists("\(Self.gadgets)/\($0)/functions/ffs.\(mount.function)") }
        guard hasFunctionFS, hasFunction else { throw SystemError(errno: ENODEV, during: mount.path) }
        guard exists(mount.path) else { throw SystemError(errno: ENOENT, during: mount.path) }
        guard !state.mounts.contains(where: { $0.function == mount.function }) else {
            throw SystemError(errno: EBUSY, during: mount.path)
        }
        state.mounts.append(mount)
        self.owner = owner
        automatic(mount.path + "/ep0", .file(""))
    }

    func unmount(_ path: String, evenIfBusy: Bool) throws(SystemError) {
        try step("umount \(path)\(evenIfBusy ? " lazily" : "")")
        guard let mount = state.mounts.first(where: { $0.path == path }) else {
            throw SystemError(errno: EINVAL, during: path)
        }
        guard evenIfBusy || !state.open.contains(mount.function) else {
            throw SystemError(errno: EBUSY, during: path)
        }
        state.mounts.removeAll { $0 == mount }
        for key in state.tree.keys where key.hasPrefix(path + "/") { state.tree[key] = nil }
    }

    func mounts() -> [FunctionFSMount] { state.mounts }

    func loadModule(_ name: String) throws(SystemError) {
        try step("modprobe \(name)")
        guard let moduleBrings else { throw SystemError(errno: ENODEV, during: name) }
        automatic(moduleBrings, .folder)
    }

    func lock(_ path: String) throws(SystemError) -> FileDescriptor {
        guard exists(path) else { throw SystemError(errno: ENOENT, during: path) }
        if locked.contains(path) { throw SystemError(errno: EWOULDBLOCK, during: path) }
        return FileDescriptor(takingOwnership: try syscall("open") { open("/dev/null", O_RDONLY | O_CLOEXEC) })
    }
}
