internal import Foundation

/// What the system says of a file that can't be read or written: Foundation's text may leave it out.
func cause(ofFile error: any Error) -> String {
    let error = error as NSError
    let cause = error.userInfo["NSUnderlyingError"] as? NSError ?? error
    return cause.domain == NSPOSIXErrorDomain
        ? String(cString: strerror(Int32(truncatingIfNeeded: cause.code))) : error.localizedDescription
}
