public import GantryCore
import GantryMedia
import GantryTransport

/// What a `ProducerController` is made with. `ProducerController.configure` changes it later.
public struct ProducerConfiguration: Sendable {
    /// The name that studios show: at most 32 characters and 64 bytes; nil: the host's name.
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

    /// One picture and one sound, on the port that studios expect, announced.
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

    /// The picture as it is offered to studios.
    public struct VideoSettings: Sendable {
        /// The nominal rate of what `enqueueVideo` will be given; it decides how many bits a frame may have.
        public var frameRate: FrameRate
        /// Bits a second, 30 000…200 000 000; nil: by size and rate.
        public var bitrate: Int?
        /// Shown to studios: "camera", a file's name. What is beyond 32 characters or 64 bytes is not shown.
        public var sourceName: String
        /// Shown to studios, which may treat a screen in another way than a camera.
        public var sourceType: SourceType
        /// Nil, the default: pictures are encoded as H.264, whatever `CapturedFrame.Format` they come in. Not nil: what comes
        /// has been coded by a device, as this says, and is handed on as it is; frames in other formats are errors, and studios
        /// get no other size than this. SPS and PPS of H.264 must come with its key frames, so `parameterSets` stays empty.
        public var coded: VideoStreamFormat?

        /// Pictures of 30 frames a second from a source of the application's own, unless told otherwise.
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
        /// A camera.
        case camera
        /// A screen or a window.
        case screen
        /// A file or a stream.
        case file
        /// Whatever the application makes.
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

    /// The sound as it is offered to studios.
    public struct AudioSettings: Sendable {
        /// Shown to studios: "microphone". What is beyond 32 characters or 64 bytes is not shown.
        public var sourceName: String

        /// Sound that is called `sourceName`.
        public init(sourceName: String = "audio") { self.sourceName = sourceName }
    }

    /// - Throws: `invalidArgument` for what no run could use.
    func validate() throws(GantryError) {
        try DisplayName.check(name)
        guard let video else { return }
        if let bitrate = video.bitrate, !(Self.bitrates ~= bitrate) {
            throw GantryError(
                .invalidArgument,
                "A bitrate of \(bitrate) bits a second is outside \(Self.bitrates.lowerBound)…\(Self.bitrates.upperBound)."
            )
        }
        guard let coded = video.coded else { return }
        guard coded.codec.isVideo, RawFrame.sides ~= coded.width, RawFrame.sides ~= coded.height,
            [0, 90, 180, 270].contains(coded.rotation)
        else {
            throw GantryError(
                .invalidArgument,
                "Coded pictures are H.264 or MJPEG, of 16x16…8192x8192, turned by 0, 90, 180 or 270 degrees; not "
                    + "\(coded.codec) of \(coded.width)x\(coded.height), turned by \(coded.rotation).")
        }
    }
}
