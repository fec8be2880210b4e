import Foundation
import Midstream

/// Asks for a password on the terminal, which doesn't show what is typed. `getpass` would take Ctrl-C for a part of it.
enum PasswordPrompt {
    /// The terminal that shows nothing, and its settings before.
    private static let hidden = Locked<(terminal: Int32, settings: termios)?>(nil)

    /// Returns what is typed; nil where there is no terminal or its input ends.
    ///
    /// - Throws: `CancellationError` in a task that is cancelled, as Ctrl-C does it.
    static func ask(_ question: String) throws -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer {
            end()
            close(terminal)
        }
        guard hide(terminal) else { return nil }
        try Terminal.put(Array(question.utf8), into: terminal)
        let line = try line(from: terminal)
        // The user's own isn't shown.
        try Terminal.put([newline], into: terminal)
        return line
    }

    /// Has the terminal show again what is typed, where somebody is being asked.
    static func end() {
        hidden.withLock { hidden in
            guard let terminal = hidden?.terminal, var settings = hidden?.settings else { return }
            tcsetattr(terminal, TCSAFLUSH, &settings)
            hidden = nil
        }
    }

    private static func hide(_ terminal: Int32) -> Bool {
        hidden.withLock { hidden in
            var settings = termios()
            guard tcgetattr(terminal, &settings) == 0 else { return false }
            hidden = (terminal, settings)
            settings.c_lflag &= ~tcflag_t(ECHO)
            return tcsetattr(terminal, TCSAFLUSH, &settings) == 0
        }
    }

    private static let newline = UInt8(ascii: "\n")

    private static func line(from terminal: Int32) throws -> String? {
        var (line, bytes) = ([UInt8](), [UInt8](repeating: 0, count: 1_024))
        while line.last != newline {
            try Task.checkCancellation()
            var input = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 100) > 0 else { continue }
            let count = read(terminal, &bytes, bytes.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            line += bytes.prefix(count)
        }
        try Task.checkCancellation()
        return String(decoding: line.dropLast(), as: UTF8.self)
    }
}
