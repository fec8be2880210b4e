internal import Foundation

/// The public suffix list of the system's libpsl, which is found by its soname: neither headers nor packages are needed to build.
///
/// - Invariant: `@unchecked Sendable` is sound because the list is neither changed nor freed after it has been made.
struct PublicSuffixList: @unchecked Sendable {
    private typealias Latest = @convention(c) (_ file: UnsafePointer<CChar>?) -> OpaquePointer?
    private typealias IsSuffix = @convention(c) (_ list: OpaquePointer, _ name: UnsafePointer<CChar>) -> CInt

    private let list: OpaquePointer
    private let isSuffix: IsSuffix

    /// nil where the library isn't there, or has no list.
    static let system = PublicSuffixList(library: "libpsl.so.5")

    init?(library: String) {
        guard let library = dlopen(library, RTLD_NOW | RTLD_LOCAL), let latest = dlsym(library, "psl_latest"),
            let isSuffix = dlsym(library, "psl_is_public_suffix"), let list = unsafeBitCast(latest, to: Latest.self)(nil)
        else { return nil }
        self.list = list
        self.isSuffix = unsafeBitCast(isSuffix, to: IsSuffix.self)
    }

    /// Whether a name in small letters is a public suffix. One of an unknown top level is, if it has no dot.
    func contains(_ name: String) -> Bool { isSuffix(list, name) != 0 }
}
