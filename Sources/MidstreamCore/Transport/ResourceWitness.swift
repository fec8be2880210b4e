/// Hears of the objects that hold threads, sockets or files of the system, as they are made, so that a test can see that they go.
///
/// It hears of what is made in its task and in tasks that inherit from it. Where nobody listens, as outside of tests, an object
/// costs a look at a task-local value when it is made.
package enum ResourceWitness {
    @TaskLocal package static var current: (@Sendable (any AnyObject & Sendable) -> Void)?

    /// Tells of an object that has just got hold of something, and lets go of it at the latest when it is released.
    package static func tell(of holder: any AnyObject & Sendable) { current?(holder) }
}
