extension ProducerConfiguration {
    /// How a producer is reached over a USB cable. Linux must have a USB device controller: see docs/usb.md.
    public struct USBSettings: Sendable {
        /// The folder of the FunctionFS mount that was prepared; nil: the one that is mounted for Gantry.
        public var mountPoint: String?
        /// Makes the gadget and mounts its FunctionFS, which only root can; both go with `stop`. Without it they must be
        /// there: `udev/gantry-gadget start`.
        public var makesGadget: Bool
        /// With `makesGadget`: the device controller, as in /sys/class/udc; nil: the only free one.
        public var controller: String?
        /// With `makesGadget`: vendor and product, "VVVV:PPPP" in hexadecimal digits. The default, 1209:0001, is for
        /// development only (https://pid.codes/1209/0001).
        public var identifiers: String
        /// What becomes of a studio on the cable that is not paired.
        public var strangers: Strangers

        /// What is left out is as the properties say.
        public init(
            mountPoint: String? = nil, makesGadget: Bool = false, controller: String? = nil,
            identifiers: String = "1209:0001", strangers: Strangers = .refuse
        ) {
            self.mountPoint = mountPoint
            self.makesGadget = makesGadget
            self.controller = controller
            self.identifiers = identifiers
            self.strangers = strangers
        }
    }

    /// What becomes of a studio on the USB cable that is not paired. The cable proves nothing: whoever can plug one in
    /// can ask.
    public enum Strangers: Sendable {
        /// It is turned away, as on the network.
        case refuse
        /// `ProducerEvent.studioAsks` comes, and `ProducerController.answer` decides, within 30 seconds.
        case ask
        /// It is paired without a question. Where several strangers can plug in a cable, each is.
        case pair
    }
}
