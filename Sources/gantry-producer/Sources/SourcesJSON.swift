import CommandLineKit
import GantryCore
import GantryMedia

/// The sources for programs; docs/sources.md explains each member.
enum SourcesJSON {
    static func value(_ inventory: SourceInventory) -> JSONValue {
        [
            "event": "sources", "cameras": .array(inventory.cameras.map(camera)),
            "microphones": .array(inventory.microphones.map(microphone)), "screens": .array(screens(inventory)),
            "default": standard(inventory),
        ]
    }

    private static func camera(_ camera: CameraInfo) -> JSONValue {
        [
            "source": .string(camera.path), "stableSource": .optional(camera.stablePath), "name": .string(camera.name),
            "driver": .string(camera.driver), "bus": .string(camera.bus), "isVirtual": .bool(camera.isVirtual),
            "modes": .array(modes(camera.modes)), "controls": .array(camera.controls.map(control)),
            "problem": problem(camera.problem),
        ]
    }

    /// Each once: two formats of the driver may be one for us.
    private static func modes(_ offers: [CameraOffer]) -> [JSONValue] {
        var seen: Set<JSONValue> = []
        return offers.map(mode).filter { seen.insert($0).inserted }
    }

    private static func mode(_ offer: CameraOffer) -> JSONValue {
        [
            "pixels": .string("\(offer.pixels)"), "width": integer(offer.width.upperBound),
            "height": integer(offer.height.upperBound), "leastWidth": integer(offer.width.lowerBound),
            "leastHeight": integer(offer.height.lowerBound),
            "frameRate": offer.frameRate.map { .number($0.framesPerSecond) } ?? .null,
        ]
    }

    private static func control(_ control: CameraControl) -> JSONValue {
        [
            "name": .string(control.name), "kind": .string("\(control.kind)"), "minimum": integer(control.minimum),
            "maximum": integer(control.maximum), "step": integer(control.step),
            "default": integer(control.defaultValue), "value": control.value.map(integer) ?? .null,
            "entries": .array(control.entries.map { ["value": integer($0.value), "name": .string($0.name)] }),
            "isInactive": .bool(control.isInactive), "isReadOnly": .bool(control.isReadOnly),
        ]
    }

    private static func microphone(_ microphone: MicrophoneInfo) -> JSONValue {
        [
            "audio": .string(microphone.name), "name": .string(microphone.description),
            "card": .optional(microphone.cardID), "isDefault": .bool(microphone.isDefault),
            "isVirtual": .bool(microphone.isVirtual), "problem": problem(microphone.problem),
        ]
    }

    private static func screens(_ inventory: SourceInventory) -> [JSONValue] {
        guard case .success(let screen) = inventory.screen else { return [] }
        return [
            [
                "source": .string("screen:\(screen.display)"), "width": integer(screen.width),
                "height": integer(screen.height), "problem": problem(screen.problem),
            ]
        ]
    }

    private static func standard(_ inventory: SourceInventory) -> JSONValue {
        var source: String?
        var audio: String?
        if case .success(let camera) = inventory.defaultCamera { source = camera.path }
        if source != nil, case .success(let microphone) = inventory.defaultMicrophone { audio = microphone.name }
        return [
            "source": .optional(source), "audio": .optional(audio), "reason": .string(inventory.explanation),
        ]
    }

    private static func problem(_ error: GantryError?) -> JSONValue {
        guard let error else { return .null }
        return ["code": integer(error.code.rawValue), "message": .string(error.description)]
    }

    private static func integer(_ value: Int) -> JSONValue { .integer(Int64(value)) }
}
