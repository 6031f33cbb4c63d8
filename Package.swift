// swift-tools-version: 6.2
import PackageDescription

/// Settings of every target of ours: a warning is an error, imports are explicit about their visibility.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

func tool(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A program as a user of the kits writes it: it sees what is public, and no more. Not a product.
func example(_ name: String, _ kits: [Target.Dependency]) -> Target {
    .executableTarget(
        name: "gantry-example-\(name)", dependencies: kits, path: "Examples/\(name)", packageAccess: false,
        swiftSettings: strict)
}

/// A C library of the distribution: module map and shim in `Sources/CModules/<name>`, found through pkg-config.
func library(_ name: String, pkgConfig: String? = nil, apt: [String]) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CModules/\(name)", pkgConfig: pkgConfig, providers: [.apt(apt)])
}

let package = Package(
    name: "gantry",
    products: [
        .library(name: "ProducerKit", targets: ["ProducerKit"]),
        .library(name: "StudioKit", targets: ["StudioKit"]),
        .executable(name: "gantry-producer", targets: ["gantry-producer"]),
        .executable(name: "gantry-studio", targets: ["gantry-studio"]),
    ],
    targets: [
        // C libraries. Each is imported by exactly one Swift target.
        library("CLinux", apt: ["libc6-dev"]),
        library("COpenSSL", pkgConfig: "openssl", apt: ["libssl-dev"]),
        library("CSQLite", pkgConfig: "sqlite3", apt: ["libsqlite3-dev"]),
        library("CX264", pkgConfig: "x264", apt: ["libx264-dev"]),
        library("COpus", pkgConfig: "opus", apt: ["libopus-dev"]),
        library(
            "CLibAV", pkgConfig: "libavformat",
            apt: [
                "libavcodec-dev", "libavdevice-dev", "libavformat-dev", "libavutil-dev", "libswresample-dev",
                "libswscale-dev",
            ]),
        library("CYUV", apt: ["libyuv-dev"]),
        library("CQREncode", pkgConfig: "libqrencode", apt: ["libqrencode-dev"]),
        library("CZBar", pkgConfig: "zbar", apt: ["libzbar-dev"]),
        library("CAvahi", pkgConfig: "avahi-client", apt: ["libavahi-client-dev"]),
        library("CDBus", pkgConfig: "dbus-1", apt: ["libdbus-1-dev"]),
        library("CV4L2", apt: ["linux-libc-dev"]),
        library("CALSA", pkgConfig: "alsa", apt: ["libasound2-dev"]),
        library("CSampleRate", pkgConfig: "samplerate", apt: ["libsamplerate0-dev"]),
        library("CLibUSB", pkgConfig: "libusb-1.0", apt: ["libusb-1.0-0-dev"]),
        library("CFunctionFS", apt: ["linux-libc-dev"]),
        library("CSRTP", pkgConfig: "libsrtp2", apt: ["libsrtp2-dev"]),
        library("CISAL", pkgConfig: "libisal", apt: ["libisal-dev"]),
        library("CSDL2", pkgConfig: "sdl2", apt: ["libsdl2-dev"]),

        // The direction of dependency is downwards only; the two kits never import each other.
        module("GantryCore"),
        module("GantryPlatform", ["GantryCore", "CLinux", "CDBus"]),
        module("GantryTrust", ["GantryCore", "GantryPlatform", "COpenSSL", "CSQLite"]),
        module(
            "GantryTransport",
            ["GantryCore", "GantryPlatform", "GantryTrust", "CAvahi", "CLibUSB", "CFunctionFS", "CSRTP", "CISAL"]),
        module(
            "GantryMedia",
            [
                "GantryCore", "GantryPlatform", "CX264", "COpus", "CLibAV", "CYUV", "CQREncode", "CZBar", "CV4L2",
                "CALSA",
                "CSampleRate",
            ]),
        module("ProducerKit", ["GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport", "GantryMedia"]),
        module("StudioKit", ["GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport", "GantryMedia"]),
        module("CommandLineKit", ["GantryCore", "GantryPlatform"]),
        // A window for the pictures of a session: an output as a program of somebody else could have it.
        module(
            "GantryPreview", ["StudioKit", "CommandLineKit", "GantryCore", "GantryMedia", "GantryPlatform", "CSDL2"]),
        tool("gantry-producer", ["ProducerKit", "CommandLineKit", "GantryCore", "GantryMedia", "GantryPlatform"]),
        tool(
            "gantry-studio",
            ["StudioKit", "GantryPreview", "CommandLineKit", "GantryCore", "GantryMedia", "GantryPlatform"]),

        example("send", ["ProducerKit"]),
        example("receive", ["StudioKit"]),
        example("chat", ["ProducerKit", "StudioKit"]),

        .target(
            name: "GantryTestSupport",
            dependencies: ["GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport", "GantryMedia"],
            path: "Tests/GantryTestSupport", swiftSettings: strict),
        tests("GantryCoreTests", ["GantryCore", "GantryTestSupport"]),
        tests("GantryPlatformTests", ["GantryCore", "GantryPlatform", "GantryTestSupport"]),
        tests("GantryTrustTests", ["GantryCore", "GantryPlatform", "GantryTrust", "GantryTestSupport"]),
        tests(
            "GantryTransportTests",
            ["GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport", "GantryTestSupport"]),
        tests("GantryMediaTests", ["GantryCore", "GantryPlatform", "GantryMedia", "GantryTestSupport"]),
        tests("CommandLineKitTests", ["CommandLineKit", "GantryCore", "GantryPlatform", "GantryTestSupport"]),
        tests(
            "GantryPreviewTests", ["GantryPreview", "StudioKit", "GantryCore", "GantryMedia", "GantryTestSupport"]),
        tests(
            "EndToEndTests",
            [
                "ProducerKit", "StudioKit", "GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport",
                "GantryMedia", "GantryTestSupport",
            ]),
        // Real cameras, sound cards and screens, in a virtual machine: see scripts/vm.
        tests(
            "DeviceTests",
            [
                "ProducerKit", "StudioKit", "GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport",
                "GantryMedia", "GantryTestSupport",
            ]),
        // Several hosts in network namespaces: see scripts/lab.
        tests(
            "LabTests",
            [
                "ProducerKit", "StudioKit", "GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport",
                "GantryTestSupport", "gantry-labprobe",
            ]),
        // Discovery as a process of its own, which the lab runs in a namespace. Not a product.
        .executableTarget(
            name: "gantry-labprobe", dependencies: ["GantryCore", "GantryPlatform", "GantryTrust", "GantryTransport"],
            path: "Tests/LabProbe", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
