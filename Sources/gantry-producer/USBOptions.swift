import CommandLineKit
import GantryCore
import ProducerKit

/// What `run` is told about USB.
enum USBOptions {
    /// Nil: no cable.
    static func settings(_ arguments: ParsedArguments) throws(GantryError) -> ProducerConfiguration.USBSettings? {
        let makesGadget = arguments.has("usb-setup")
        for option in ["usb-controller", "usb-id"] where arguments.has(option) && !makesGadget {
            throw GantryError(
                .invalidArgument, "--\(option) is for the gadget that --usb-setup makes: give that as well.")
        }
        guard makesGadget || arguments.has("usb") else {
            guard arguments.has("usb-trust") else { return nil }
            throw GantryError(
                .invalidArgument, "--usb-trust is about the USB cable: give --usb or --usb-setup as well.")
        }
        var settings = ProducerConfiguration.USBSettings(makesGadget: makesGadget)
        if let folder = arguments.string("usb"), !folder.isEmpty { settings.mountPoint = folder }
        settings.controller = arguments.string("usb-controller")
        if let identifiers = arguments.string("usb-id") { settings.identifiers = identifiers }
        settings.strangers =
            switch arguments.string("usb-trust") {
            case "prompt": .ask
            case "tofu": .pair
            case "paired-only": .refuse
            default: YesNoPrompt.isPossible && !arguments.has("json") ? .ask : .refuse
            }
        return settings
    }
}
