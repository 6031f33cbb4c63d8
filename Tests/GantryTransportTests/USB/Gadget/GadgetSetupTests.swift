import GantryCore
import GantryPlatform
import GantryTransport
import Glibc
import Testing

@Suite struct GadgetSetupTests {
    private func setup(
        _ kernel: ModelKernel, _ change: (inout GadgetConfiguration) -> Void = { _ in }
    ) -> GadgetSetup {
        var configuration = GadgetConfiguration(serial: "ABCD2345")
        configuration.gadgetsFolder = ModelKernel.gadgets
        configuration.controllersFolder = ModelKernel.controllers
        configuration.mountPoint = "/ffs/gantry"
        change(&configuration)
        return GadgetSetup(configuration, files: kernel)
    }

    /// Without the folders of the mount, which stay.
    private func tree(_ kernel: ModelKernel) -> ModelKernel.State {
        var state = kernel.state
        for path in ["/ffs", "/ffs/gantry"] { state.tree[path] = nil }
        return state
    }

    private static let making = [
        "mkdir gantry", "write gantry/idVendor 0x1209", "write gantry/idProduct 0x0001", "mkdir gantry/strings",
        "mkdir gantry/strings/0x409", "write gantry/strings/0x409/manufacturer Gantry",
        "write gantry/strings/0x409/product Gantry producer", "write gantry/strings/0x409/serialnumber ABCD2345",
        "mkdir gantry/configs", "mkdir gantry/configs/c.1", "mkdir gantry/functions",
        "mkdir gantry/functions/ffs.gantry", "link gantry/configs/c.1/ffs.gantry", "mkdir /ffs", "mkdir /ffs/gantry",
        "mount gantry /ffs/gantry",
    ]

    @Test func everythingInItsOrder() throws {
        let kernel = ModelKernel()
        let before = kernel.state
        let gadget = setup(kernel) { $0.owner = GadgetOwner(user: 1000, group: 44) }
        let prepared = try gadget.prepare()
        #expect((prepared.gadget, prepared.mountPoint) == ("gantry", "/ffs/gantry"))
        #expect(prepared.origin == .made)
        #expect(prepared.controller.name == "udc.0")
        #expect(kernel.done == Self.making)
        #expect(kernel.owner == GadgetOwner(user: 1000, group: 44))
        kernel.openFunction()
        kernel.forget()

        let controller = try gadget.bind()
        #expect(controller.user == .gadget("gantry"))
        #expect(kernel.done == ["write gantry/UDC udc.0"])
        try gadget.unbind()
        kernel.closeFunction()
        try gadget.remove()
        #expect(
            kernel.done == [
                "write gantry/UDC udc.0", "write gantry/UDC ", "unlink gantry/configs/c.1/ffs.gantry",
                "umount /ffs/gantry", "rmdir gantry/functions/ffs.gantry", "rmdir gantry/configs/c.1",
                "rmdir gantry/strings/0x409", "rmdir gantry",
            ])
        #expect(tree(kernel) == before)
    }

    @Test func allCanBeCalledTwice() throws {
        let kernel = ModelKernel()
        let before = kernel.state
        let gadget = setup(kernel)
        try gadget.unbind()
        try gadget.remove()
        #expect(try gadget.prepare() == gadget.prepare())
        kernel.openFunction()
        #expect(try gadget.bind() == gadget.bind())
        // The kernel takes it off when the producer ends; the next one is put on again.
        kernel.closeFunction()
        try gadget.unbind()
        kernel.openFunction()
        #expect(try gadget.bind().name == "udc.0")
        // Still open and on the controller: it is taken away all the same.
        try gadget.remove()
        #expect(kernel.done.contains("umount /ffs/gantry lazily"))
        kernel.closeFunction()
        try gadget.remove()
        #expect(tree(kernel) == before)
        #expect(try gadget.prepare().origin == .made)
    }

    @Test(arguments: Self.making.indices) func aFailingStepLeavesNothing(step: Int) throws {
        let kernel = ModelKernel()
        let before = kernel.state
        kernel.failing = (step, ENOSPC)
        let error = #expect(throws: GantryError.self) { try setup(kernel).prepare() }
        #expect(error?.code == .usbGadget)
        #expect(error?.cause?.contains("No space left") == true)
        #expect(tree(kernel) == before)
    }

    /// Cut off at any step, as a crash does, the next run finishes the work and takes everything away.
    @Test(arguments: Self.making.indices) func whatACrashLeftIsTakenOver(steps: Int) throws {
        let kernel = ModelKernel()
        let before = kernel.state
        let whole = ModelKernel()
        try #require(try setup(whole).prepare().origin == .made)
        // The same steps, up to here, by hand.
        for line in whole.done[...steps] { try Self.again(line, kernel) }
        let gadget = setup(kernel)
        #expect(try gadget.prepare().origin == .takenOver)
        #expect(kernel.state.tree == whole.state.tree)
        #expect(kernel.state.mounts == whole.state.mounts)
        kernel.openFunction()
        try gadget.bind()
        kernel.closeFunction()
        try gadget.remove()
        #expect(tree(kernel) == before)
    }

    private static func again(_ line: String, _ kernel: ModelKernel) throws {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        let path = words[1].hasPrefix("/") ? words[1] : "\(ModelKernel.gadgets)/\(words[1])"
        switch words[0] {
        case "mkdir": if !kernel.exists(path) { try kernel.makeFolder(path) }
        case "write": try kernel.write(words[2], to: path)
        case "link": try kernel.makeLink(path, to: "\(ModelKernel.gadgets)/gantry/functions/ffs.gantry")
        case "mount": try kernel.mount(FunctionFSMount(function: "gantry", path: words[2]), owner: .root)
        default: Issue.record("\(line)")
        }
    }

    @Test func nothingIsBoundWithoutDescriptors() throws {
        let kernel = ModelKernel()
        let gadget = setup(kernel)
        #expect(throws: GantryError.self) { try gadget.bind() }
        _ = try gadget.prepare()
        kernel.openFunction(described: false)
        kernel.forget()
        let error = #expect(throws: GantryError.self) { try gadget.bind() }
        #expect(error?.code == .invalidState)
        #expect(kernel.done.isEmpty)
    }

    // MARK: Controllers

    private struct Choice: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var controllers = ["udc.0"]
        var wanted: String?
        var gadget: (name: String, on: String)?
        var driver: (name: String, on: String)?
        var chosen: String?
        var code: GantryError.Code?
        var says: [String] = []
    }

    private static let choices = [
        Choice(testDescription: "none", controllers: [], code: .usbNoController, says: ["dtoverlay=dwc2"]),
        Choice(testDescription: "one", chosen: "udc.0"),
        Choice(
            testDescription: "taken by a gadget", gadget: ("g1", "udc.0"), code: .usbControllerTaken,
            says: ["udc.0", "the gadget \"g1\"", "usb_gadget/g1/UDC"]),
        Choice(
            testDescription: "taken by a driver", driver: ("g_ether", "udc.0"), code: .usbControllerTaken,
            says: ["used by g_ether", "modprobe -r g_ether"]),
        Choice(
            testDescription: "several", controllers: ["a", "b"], code: .usbNoController,
            says: ["a (", "b (", "--usb-controller a"]),
        Choice(testDescription: "the free one", controllers: ["a", "b"], gadget: ("g1", "a"), chosen: "b"),
        Choice(testDescription: "named", controllers: ["a", "b"], wanted: "b", chosen: "b"),
        Choice(
            testDescription: "named and taken", controllers: ["a", "b"], wanted: "a", gadget: ("g1", "a"),
            code: .usbControllerTaken, says: ["a (high-speed, used by the gadget \"g1\")"]),
        Choice(
            testDescription: "named and not there", wanted: "z", code: .usbNoController,
            says: ["\"z\"", "udc.0 (high-speed, free)"]),
        Choice(
            testDescription: "all taken", controllers: ["a", "b"], gadget: ("g1", "a"), driver: ("g_zero", "b"),
            code: .usbControllerTaken, says: ["g1", "g_zero"]),
    ]

    @Test(arguments: choices) private func aControllerIsChosenOrRefused(_ choice: Choice) throws {
        let kernel = ModelKernel(controllers: choice.controllers)
        if let gadget = choice.gadget {
            try kernel.addGadget(gadget.name, functions: ["ncm.usb0"], on: gadget.on)
        }
        if let driver = choice.driver { kernel.occupy(driver.on, by: driver.name) }
        let before = kernel.state
        let gadget = setup(kernel) { $0.controller = choice.wanted }
        do {
            #expect(try gadget.prepare().controller.name == choice.chosen)
            kernel.openFunction()
            #expect(try gadget.bind().name == choice.chosen)
        } catch {
            #expect(error.code == choice.code)
            for text in choice.says { #expect(error.message.contains(text), "\(error)") }
            #expect(kernel.done.isEmpty && kernel.state == before, "refused before anything is made")
        }
    }

    /// Between the look and the write somebody else was quicker.
    @Test func aControllerThatIsTakenAtTheLastMomentIsSaid() throws {
        let kernel = ModelKernel()
        let gadget = setup(kernel)
        _ = try gadget.prepare()
        kernel.openFunction()
        kernel.beforeBind = {
            kernel.beforeBind = {}
            try? kernel.addGadget("quick", functions: ["ncm.usb0"], on: "udc.0")
        }
        let error = #expect(throws: GantryError.self) { try gadget.bind() }
        #expect(error?.code == .usbControllerTaken)
        #expect(error?.message.contains("\"quick\"") == true)
    }

    // MARK: Others

    @Test func functionsOfOthersInOurGadgetStay() throws {
        let kernel = ModelKernel()
        try kernel.addGadget("gantry", functions: ["ncm.usb0"])
        let before = kernel.state
        let gadget = setup(kernel)
        _ = try gadget.prepare()
        let root = ModelKernel.gadgets + "/gantry"
        #expect(kernel.text(root + "/idVendor") == "0x1d6b", "their ids")
        #expect(kernel.text(root + "/strings/0x409/product") == "theirs")
        #expect(kernel.text(root + "/strings/0x409/serialnumber") == "ABCD2345", "which they left empty")
        #expect(kernel.entries(root + "/configs/c.1").contains("ncm.usb0"))
        kernel.openFunction()
        try gadget.bind()
        kernel.closeFunction()
        try gadget.remove()
        #expect(kernel.text(root + "/UDC") == "udc.0", "back where it was, without ours")
        try kernel.write("", to: root + "/UDC")
        var after = tree(kernel)
        let serial = root + "/strings/0x409/serialnumber"
        after.tree[serial] = before.tree[serial]
        let manufacturer = root + "/strings/0x409/manufacturer"
        after.tree[manufacturer] = before.tree[manufacturer]
        #expect(after == before)
    }

    @Test func aGadgetOfOursThatIsBoundWithoutUsIsLeftAlone() throws {
        let kernel = ModelKernel()
        try kernel.addGadget("gantry", functions: ["ncm.usb0"], on: "udc.0")
        let before = kernel.state
        let error = #expect(throws: GantryError.self) { try setup(kernel).prepare() }
        #expect(error?.code == .usbGadgetInUse)
        #expect(error?.message.contains("tee /gadgets/gantry/UDC") == true)
        #expect(kernel.state == before)
    }

    @Test(arguments: [true, false]) func aGadgetThatHasOurFunctionIsAdopted(isMounted: Bool) throws {
        let kernel = ModelKernel()
        try kernel.addGadget("board", functions: ["ffs.gantry", "ncm.usb0"])
        try kernel.makeFolder("/theirs")
        let theirs = FunctionFSMount(function: "gantry", path: "/theirs")
        if isMounted { try kernel.mount(theirs, owner: .root) }
        let before = kernel.state
        let gadget = setup(kernel)
        let prepared = try gadget.prepare()
        #expect(prepared.origin == .adopted)
        #expect(prepared.gadget == "board")
        #expect(prepared.mountPoint == (isMounted ? "/theirs" : "/ffs/gantry"))
        kernel.openFunction()
        #expect(try gadget.bind().user == .gadget("board"))
        kernel.closeFunction()
        try gadget.remove()
        #expect(tree(kernel) == before)
    }

    @Test func aGadgetToAdoptMustHaveOurFunction() throws {
        let kernel = ModelKernel()
        try kernel.addGadget("board", functions: ["ncm.usb0"])
        for name in ["board", "nobody"] {
            let error = #expect(throws: GantryError.self) { try setup(kernel).prepare(adopting: name) }
            #expect(error?.code == .usbGadget)
            #expect(error?.message.contains("no function ffs.gantry") == true)
        }
    }

    private enum Use: CaseIterable { case bound, opened, locked, adoptedAndBound }

    @Test(arguments: Use.allCases) private func aGadgetThatAnotherProducerUsesIsLeftAlone(_ use: Use) throws {
        let kernel = ModelKernel()
        let other = setup(kernel)
        if use == .adoptedAndBound { try kernel.addGadget("board", functions: ["ffs.gantry"]) }
        _ = try other.prepare()
        if use != .locked { kernel.openFunction(described: use != .opened) }
        if use == .bound || use == .adoptedAndBound { try other.bind() }
        if use == .locked { kernel.locked = [ModelKernel.gadgets + "/gantry"] }
        let before = kernel.state
        let error = #expect(throws: GantryError.self) { try setup(kernel).prepare() }
        #expect(error?.code == .usbGadgetInUse)
        #expect(kernel.state == before)
    }

    // MARK: What is missing

    @Test func withoutRootItSaysWhatToRun() {
        let kernel = ModelKernel()
        kernel.isRoot = false
        let error = #expect(throws: GantryError.self) { try setup(kernel).prepare() }
        #expect(error?.code == .usbNotPermitted)
        #expect(error?.message.contains("sudo gantry-producer run --usb --usb-setup") == true)
    }

    @Test func gadgetsAreLoadedWhereTheyAreMissing() throws {
        let kernel = ModelKernel(hasGadgets: false)
        let error = #expect(throws: GantryError.self) { try setup(kernel).prepare() }
        #expect(error?.code == .usbGadget)
        #expect(error?.message.contains("modprobe libcomposite") == true)
        kernel.moduleBrings = ModelKernel.gadgets
        kernel.forget()
        #expect(try setup(kernel).prepare().origin == .made)
        #expect(kernel.done.first == "modprobe libcomposite")
    }

    @Test func withoutFunctionFSItSaysSo() throws {
        let kernel = ModelKernel()
        kernel.hasFunctionFS = false
        let before = kernel.state
        let error = #expect(throws: GantryError.self) { try setup(kernel).prepare() }
        #expect(error?.message.contains("modprobe usb_f_fs") == true)
        #expect(tree(kernel) == before)
    }

    @Test(arguments: ["/mnt/ours", "/ffs/gantry"]) func aPlaceThatAnotherFunctionHasIsSaid(place: String) throws {
        let kernel = ModelKernel(controllers: ["a", "b"])
        try kernel.addGadget("g1", functions: ["ffs.adb"])
        for folder in ["/mnt", "/mnt/ours", "/ffs", "/ffs/gantry"] { try kernel.makeFolder(folder) }
        try kernel.mount(FunctionFSMount(function: "adb", path: place), owner: .root)
        let before = tree(kernel)
        let gadget = setup(kernel) {
            $0.mountPoint = place
            $0.controller = "a"
        }
        let error = #expect(throws: GantryError.self) { try gadget.prepare() }
        #expect(error?.message.contains("sudo umount \(place)") == true)
        #expect(tree(kernel) == before)
    }
}
