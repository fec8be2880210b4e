internal import MidstreamCore

/// The modifiers that come with the library. Each is also a method of ``RequestTask``.
public enum Modifiers {}

/// The task interceptors that come with the library. Each is also a method of ``RequestTask``.
public enum Interceptors {}
