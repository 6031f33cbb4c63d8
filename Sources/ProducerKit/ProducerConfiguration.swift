public import GantryCore
import GantryTransport

/// What a `ProducerController` is made with. `ProducerController.configure` changes it later.
public struct ProducerConfiguration: Sendable {
    /// The name that studios show. At most 64 bytes; nil: the host's name.
    public var name: String?
    /// The TCP port that studios dial; 0 lets the system choose.
    public var port: UInt16
    /// Whether the producer is announced on the network as `_camo._tcp`.
    public var isAdvertised: Bool
    /// Where identity and paired devices are kept. Nil: `GANTRY_STATE_DIR`, or `gantry` in the user's state folder.
    public var stateDirectory: String?
    /// Nil: no video stream is offered.
    public var video: VideoSettings?
    /// Nil: no audio stream is offered.
    public var audio: AudioSettings?
    /// Nil: studios reach the producer over the network only.
    public var usb: USBSettings?
    /// How media goes to studios on the network. `udp` is the same as `auto` here: the studio decides what it insists on.
    public var transport = MediaTransport.auto
    /// What is told on standard error, of the whole process; nil leaves it as it is.
    public var logLevel: LogLevel?
    /// What it sends for; announced, and told to each studio that connects.
    public var fieldOfUse = FieldOfUse()

    public init(
        name: String? = nil, port: UInt16 = Endpoint.defaultPort, isAdvertised: Bool = true,
        stateDirectory: String? = nil,
        video: VideoSettings? = VideoSettings(), audio: AudioSettings? = AudioSettings(), usb: USBSettings? = nil
    ) {
        self.name = name
        self.port = port
        self.isAdvertised = isAdvertised
        self.stateDirectory = stateDirectory
        self.video = video
        self.audio = audio
        self.usb = usb
    }

    public struct VideoSettings: Sendable {
        /// The nominal rate of what `enqueueVideo` will be given; it decides how many bits a frame may have.
        public var frameRate: FrameRate
        /// Bits a second; nil: by size and rate.
        public var bitrate: Int?
        /// Shown to studios: "camera", a file's name.
        public var sourceName: String
        public var sourceType: SourceType
        /// What the device codes itself, to be handed on as it is (`ProducerController.enqueue(coded:)`); SPS and PPS come
        /// with its key frames. Nil: pictures come, and are encoded as H.264.
        package var coded: VideoStreamFormat?

        public init(
            frameRate: FrameRate = .fps30, bitrate: Int? = nil, sourceName: String = "video",
            sourceType: SourceType = .custom
        ) {
            self.frameRate = frameRate
            self.bitrate = bitrate
            self.sourceName = sourceName
            self.sourceType = sourceType
        }
    }

    /// What the pictures come from; studios show it.
    public enum SourceType: Sendable {
        case camera
        case screen
        case file
        case custom

        var wireValue: StreamDescription.Source {
            switch self {
            case .camera: .camera
            case .screen: .screen
            case .file: .file
            case .custom: .custom
            }
        }
    }

    public struct AudioSettings: Sendable {
        public var sourceName: String

        public init(sourceName: String = "audio") { self.sourceName = sourceName }
    }
}
