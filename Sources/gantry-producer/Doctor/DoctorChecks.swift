import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc
import ProducerKit

/// `gantry-producer doctor`: what is looked at, the quick and likely things first.
enum DoctorChecks {
    static func all(_ arguments: ParsedArguments) -> [DoctorCheck] {
        let files = SystemFiles()
        return [
            DoctorCheck("cameras") {
                CameraFindings.judge(CameraList.all(), speed: { CameraFindings.usbSpeed($0, files) })
            },
            DoctorCheck("microphones") { MicrophoneFindings.judge(MicrophoneList.all()) },
            DoctorCheck("encoder") { EncoderSpeed.look() },
            DoctorCheck("network") {
                NetworkCheck.judge(
                    .now(), defaultInterface: NetworkCheck.defaultInterface(files), isStudio: false)
            },
            DoctorCheck("discovery") { AvahiCheck.judge(AvahiCheck.read(files)) },
            DoctorCheck("port") {
                let port = Endpoint.defaultPort
                return PortCheck.judge(port: port, owners: SocketOwners(files).owners(of: port, .tcp))
            },
            DoctorCheck("firewall") {
                FirewallCheck.judge(FirewallCheck.read(files), [FirewallCheck.discovery, FirewallCheck.session])
            },
            DoctorCheck("usb") { GadgetCheck.judge(GadgetCheck.read(files)) },
            DoctorCheck("clock") { ClockCheck.look(files) },
            DoctorCheck("priority") { PriorityCheck.judge(MediaPriority.permitted) },
            DoctorCheck("paired") {
                StateCheck.look(arguments.string("state-dir"), peer: "studio") {
                    Result { () throws(GantryError) in
                        try Installation(arguments).controller.pairedDevices.count { $0.kind == .studio }
                    }
                }
            },
            DoctorCheck("runtime") { RuntimeFolderCheck.look(files) },
            DoctorCheck("versions") { [.ok(LibraryVersions.text)] },
        ]
    }
}
