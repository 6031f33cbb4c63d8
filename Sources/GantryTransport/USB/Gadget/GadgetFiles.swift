package import GantryPlatform

/// What making a gadget asks of the kernel: configfs, sysfs and mounts. Tests have a model of the kernel in its place.
///
/// Blocks; may be called on any thread.
package protocol GadgetFiles: Sendable {
    func exists(_ path: String) -> Bool
    /// Names in a folder, sorted, without `.` and `..`; none where there is no such folder.
    func entries(_ path: String) -> [String]
    /// The text of a small file, without white space at its ends.
    func read(_ path: String) throws(SystemError) -> String
    /// One value, in one write.
    func write(_ text: String, to path: String) throws(SystemError)
    /// One folder; its parent exists.
    func makeFolder(_ path: String) throws(SystemError)
    func removeFolder(_ path: String) throws(SystemError)
    func makeLink(_ path: String, to target: String) throws(SystemError)
    func removeLink(_ path: String) throws(SystemError)
    /// Mounts the FunctionFS of a function. Its files belong to `owner`.
    func mount(_ mount: FunctionFSMount, owner: GadgetOwner) throws(SystemError)
    /// - Parameter evenIfBusy: takes it out of sight at once; it ends when the last file in it is closed.
    func unmount(_ path: String, evenIfBusy: Bool) throws(SystemError)
    func mounts() -> [FunctionFSMount]
    func loadModule(_ name: String) throws(SystemError)
    /// Locks a folder for this process, until the object goes. Throws EWOULDBLOCK when another process has the lock.
    func lock(_ path: String) throws(SystemError) -> FileDescriptor
}
