@_exported public import Interception
@_exported public import MidstreamAuthentication
@_exported public import MidstreamCache
@_exported public import MidstreamCompression
@_exported public import MidstreamCookies
@_exported public import MidstreamCore
@_exported public import MidstreamObservability
@_exported public import MidstreamResilience
@_exported public import MidstreamStreams
@_exported public import MidstreamTasks
@_exported public import MidstreamTemplates
@_exported public import MidstreamTransfers

#if !os(Linux)
    @_exported public import MidstreamURLSession
#elseif URLSession
    @_exported public import URLSessionOnLinux
#endif
#if Curl && os(Linux)
    @_exported public import MidstreamCurl
#endif
