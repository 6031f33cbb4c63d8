import CLinux

/// Pages of 2 MB (transparent huge pages), which x264 asks for, and gets where the system gives them to whoever asks. The last one of
/// each of its pictures is mostly empty.
package enum HugePages {
    /// From now on this process gets none for memory that it has not used before, whoever asks; nor do programs that it starts
    /// (PR_SET_THP_DISABLE in prctl(2)). Any thread.
    ///
    /// - Returns: false where the kernel cannot.
    @discardableResult package static func avoid() -> Bool { CLinux_disable_huge_pages() == 0 }
}
