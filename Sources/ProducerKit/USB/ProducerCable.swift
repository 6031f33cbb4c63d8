import GantryCore
import GantryPlatform
import GantryTransport

/// The USB cable of a running producer: the gadget, where we make it, and our function in it.
///
/// `start` and `stop` belong to whoever starts and stops the producer; the callbacks come on threads of the function.
final class ProducerCable: @unchecked Sendable {  // What varies is set in `start` and `stop` alone.
    private let settings: ProducerConfiguration.USBSettings
    /// The gadget's serial number: studios find the producer that they know by it.
    private let serial: String
    private let changed: @Sendable (USBState) -> Void
    private let accept: @Sendable (any Link) -> Void
    private var gadget: GadgetSetup?
    private var function: FunctionFSFunction?

    init(
        _ settings: ProducerConfiguration.USBSettings, keyID: KeyID, changed: @escaping @Sendable (USBState) -> Void,
        accept: @escaping @Sendable (any Link) -> Void
    ) {
        self.settings = settings
        serial = keyID.short
        self.changed = changed
        self.accept = accept
    }

    /// Blocks for as long as the kernel needs to make a gadget: some tenths of a second.
    ///
    /// - Throws: `usbFunction`, and with `makesGadget` what `GadgetSetup` throws. Nothing is left behind then.
    func start() throws(GantryError) {
        do throws(GantryError) {
            let mount = try settings.makesGadget ? makeGadget() : try preparedMount()
            let function = try FunctionFSFunction(
                mount: mount, onState: { [changed] in changed(USBState($0)) }, onLink: accept)
            self.function = function
            // A prepared gadget may be bound later, by whoever prepared it.
            if gadget == nil { changed(.unbound) }
            try function.start()
            let controller = try gadget?.bind()
            if let controller { Log.info("USB gadget on \(controller.name)") }
        } catch {
            stop()
            throw error
        }
    }

    /// Ends the sessions on the cable; to the host the device is unplugged.
    func stop() {
        function?.stop()
        // Closes ep0: the mount can go.
        function = nil
        do throws(GantryError) { try gadget?.remove() } catch { Log.warning("\(error)") }
        gadget = nil
    }

    private func makeGadget() throws(GantryError) -> String {
        var configuration = GadgetConfiguration(serial: serial)
        configuration.identifiers = try USBIdentifiers(settings.identifiers)
        configuration.controller = settings.controller
        if let mountPoint = settings.mountPoint { configuration.mountPoint = mountPoint }
        if let warning = configuration.warning { Log.warning(warning) }
        let setup = GadgetSetup(configuration)
        let prepared = try setup.prepare()
        gadget = setup
        return prepared.mountPoint
    }

    /// What was mounted for us before: by the units of docs/usb.md, or by hand.
    private func preparedMount() throws(GantryError) -> String {
        if let mountPoint = settings.mountPoint { return mountPoint }
        let mounts = FunctionFSMount.all()
        let ours = mounts.filter { $0.function == "gantry" }
        if let mount = ours.first ?? mounts.first, ours.count == 1 || mounts.count == 1 { return mount.path }
        guard mounts.isEmpty else {
            let paths = mounts.map { DisplayName($0.path).text }.joined(separator: ", ")
            throw GantryError(
                .usbFunction, "Several FunctionFS are mounted: \(paths). Name one: gantry-producer run --usb=FOLDER")
        }
        throw GantryError(
            .usbFunction,
            "No USB gadget is prepared. As root, once: gantry-producer run --usb-setup. Or for every start of the machine: "
                + "sudo systemctl enable --now gantry-gadget (docs/usb.md).")
    }
}

extension USBState {
    init(_ state: FunctionFSFunction.State) {
        self =
            switch state {
            case .unbound: .unbound
            case .bound: .waiting
            case .enabled: .attached
            case .suspended: .suspended
            }
    }
}
