import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc
import StudioKit

/// `gantry-studio doctor`: what is looked at.
enum DoctorChecks {
    static func all(_ arguments: ParsedArguments) -> [DoctorCheck] {
        let files = SystemFiles()
        return [
            DoctorCheck("network") {
                NetworkCheck.judge(.now(), defaultInterface: NetworkCheck.defaultInterface(files), isStudio: true)
            },
            DoctorCheck("discovery") { AvahiCheck.judge(AvahiCheck.read(files)) },
            // A studio dials: nothing but mDNS must come in.
            DoctorCheck("firewall") { FirewallCheck.judge(FirewallCheck.read(files), [FirewallCheck.discovery]) },
            DoctorCheck("vcam") { VirtualCameraCheck.judge(VirtualCameraCheck.read(files)) },
            DoctorCheck("usb") { USBAccessCheck.look(files, isRoot: geteuid() == 0) },
            DoctorCheck("terminal") { TerminalCheck.look() },
            DoctorCheck("clock") { ClockCheck.look(files) },
            DoctorCheck("priority") { PriorityCheck.judge(MediaPriority.permitted) },
            DoctorCheck("paired") {
                StateCheck.look(arguments.string("state-dir"), peer: "producer") {
                    Result { () throws(GantryError) in
                        try StudioController(
                            configuration: StudioConfiguration(stateDirectory: arguments.string("state-dir"))
                        ).pairedDevices.count { $0.kind == .producer }
                    }
                }
            },
            DoctorCheck("runtime") { RuntimeFolderCheck.look(files) },
            DoctorCheck("versions") { [.ok(LibraryVersions.text)] },
        ]
    }
}
