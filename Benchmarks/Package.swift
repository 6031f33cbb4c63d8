// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "gantry-benchmarks",
    products: [
        .executable(name: "gantry-bench", targets: ["gantry-bench"]),
        // For LD_PRELOAD into the tools.
        .library(name: "gantry-allocations", type: .dynamic, targets: ["CAllocations"]),
    ],
    dependencies: [.package(name: "gantry", path: "..")],
    targets: [
        .systemLibrary(
            name: "CBenchCodecs", pkgConfig: "libavcodec", providers: [.apt(["libx264-dev", "libavcodec-dev"])]),
        // The bare codecs, without anything of ours around them.
        .target(name: "CFloor", dependencies: ["CBenchCodecs"], linkerSettings: [.linkedLibrary("m")]),
        // Counts calls of the heap.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "gantry-bench",
            dependencies: [
                "CFloor", "CAllocations", .product(name: "ProducerKit", package: "gantry"),
                .product(name: "StudioKit", package: "gantry"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
    ],
    swiftLanguageModes: [.v6]
)
