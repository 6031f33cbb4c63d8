/// Whether the machine's clock is a good one for stamps of microseconds.
package enum ClockCheck {
    package static func look(_ files: SystemFiles) -> [Finding] {
        let folder = "/sys/devices/system/clocksource/clocksource0"
        guard let source = files.line("\(folder)/current_clocksource") else { return [] }
        // Those take microseconds to read, or count in milliseconds.
        guard ["jiffies", "refined-jiffies", "acpi_pm"].contains(source) else {
            return [.ok("The clock of the kernel is \(source).")]
        }
        let better =
            files.line("\(folder)/available_clocksource")?.split(separator: " ").first.map(String.init) ?? "tsc"
        return [
            .warning(
                "The clock of the kernel is \(source): slow to read or coarse, so that latencies are measured badly.",
                better == source ? nil : "echo \(better) | sudo tee \(folder)/current_clocksource")
        ]
    }
}
