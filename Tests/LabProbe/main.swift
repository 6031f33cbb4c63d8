// Discovery as a process: prints what happens as JSON lines, ends with standard input, "quit" or SIGTERM.
//
//   gantry-labprobe browse TYPE                               on standard input: "stop"
//   gantry-labprobe advertise TYPE NAME PORT [KEY=VALUE…]     on standard input: "update KEY=VALUE…", "withdraw"
//   gantry-labprobe usb-device MOUNT                          one end of a USB cable: sends back what comes
//   gantry-labprobe usb-host SERIAL                           the other: streams without end
//   gantry-labprobe usb-bench SERIAL SECONDS                  the other: measures
//   gantry-labprobe costs                                     what TLS, framing and statistics take for a picture

import Foundation
import GantryCore
import GantryPlatform
import GantryTransport

signal(SIGPIPE, SIG_IGN)
exit(LabProbe.run(Array(CommandLine.arguments.dropFirst())))
