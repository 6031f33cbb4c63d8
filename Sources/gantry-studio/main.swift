import CommandLineKit
import Glibc

exit(StudioTool.main().rawValue)
