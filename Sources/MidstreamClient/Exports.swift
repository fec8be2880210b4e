@_exported public import Interception
@_exported public import MidstreamCore
@_exported public import MidstreamTasks
