import Foundation
import Midstream

/// Asks for a password on the terminal, which doesn't show what is typed. `getpass` would take Ctrl-C for a part of it.
enum PasswordPrompt {
    /// Those with which the terminal shows what is typed, as long as it doesn't.
    private static let settings = Locked<termios?>(nil)

    /// Returns what is typed; nil where the standard input is no terminal, or ends.
    ///
    /// - Throws: `CancellationError` in a task that is cancelled, as Ctrl-C and `kill` do it.
    static func ask(_ question: String) throws -> String? {
        // For the question alone: on macOS nobody can wait for what is typed here.
        let terminal = open("/dev/tty", O_WRONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer {
            end()
            close(terminal)
        }
        guard hide(TCSAFLUSH) else { return nil }
        try Terminal.put(Array(question.utf8), into: terminal)
        // The user's own isn't shown, and Ctrl-C writes none.
        defer { try? Terminal.put([newline], into: terminal) }
        return try line()
    }

    /// Has the terminal show again what is typed, where somebody is being asked.
    static func end() {
        settings.withLock { settings in
            guard var before = settings else { return }
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            settings = nil
        }
    }

    /// - Parameter action: Whether what has been typed before is kept.
    private static func hide(_ action: Int32) -> Bool {
        settings.withLock { settings in
            var current = termios()
            guard tcgetattr(STDIN_FILENO, &current) == 0 else { return false }
            guard current.c_lflag & tcflag_t(ECHO) != 0 else { return true }
            settings = current
            current.c_lflag &= ~tcflag_t(ECHO)
            return tcsetattr(STDIN_FILENO, action, &current) == 0
        }
    }

    private static let newline = UInt8(ascii: "\n")

    private static func line() throws -> String? {
        var (line, bytes) = ([UInt8](), [UInt8](repeating: 0, count: 1_024))
        while line.last != newline {
            try Task.checkCancellation()
            // A shell has had it shown again after Ctrl-Z.
            guard hide(TCSANOW) else { return nil }
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 100) > 0 else { continue }
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            line += bytes.prefix(count)
        }
        try Task.checkCancellation()
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}
