import CommandLineKit
import GantryCore
import Glibc

exit(ProducerTool.main().rawValue)
