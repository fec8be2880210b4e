internal import Foundation

/// What `errno` says, in words.
func systemErrorText() -> String { String(cString: strerror(errno)) }
