/// An interceptor that does the same to all requests, whoever makes them, although it can't tell beforehand what that will be.
///
/// Whoever wants to know whose a request is needn't ask it.
package protocol ImpersonalInterceptor: HTTPInterceptor {}
