// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "gantry-benchmarks",
    dependencies: [.package(name: "gantry", path: "..")],
    targets: [
        .systemLibrary(
            name: "CBenchCodecs", pkgConfig: "libavcodec", providers: [.apt(["libx264-dev", "libavcodec-dev"])]),
        // The bare codecs, without anything of ours around them.
        .target(name: "CFloor", dependencies: ["CBenchCodecs"], linkerSettings: [.linkedLibrary("m")]),
        .executableTarget(
            name: "gantry-bench",
            dependencies: [
                "CFloor", .product(name: "ProducerKit", package: "gantry"),
                .product(name: "StudioKit", package: "gantry"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
