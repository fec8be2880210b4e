#ifndef MIDSTREAM_CCURL_H
#define MIDSTREAM_CCURL_H

// Swift can't call variadic C functions, and Glibc's overlay lacks a few Linux calls. Everything here is inline, so that the
// system library needs no C target of its own.

#ifdef __linux__

#include <curl/curl.h>
#if LIBCURL_VERSION_NUM < 0x075700
#error "Midstream needs libcurl 7.87.0 or newer, here and where it runs. Without the package trait Curl it needs none."
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Options of an easy handle, one function for each kind of argument.

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*ccurl_data_function)(char *data, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_data_function(CURL *handle, CURLoption option, ccurl_data_function function) {
    return curl_easy_setopt(handle, option, function);
}

static inline CURLcode ccurl_set_prerequest_function(CURL *handle, curl_prereq_callback function) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode ccurl_set_trailer_function(CURL *handle, curl_trailer_callback function) {
    return curl_easy_setopt(handle, CURLOPT_TRAILERFUNCTION, function);
}

static inline CURLcode ccurl_set_progress_function(CURL *handle, curl_xferinfo_callback function) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode ccurl_set_open_function(CURL *handle, curl_opensocket_callback function) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode ccurl_set_close_function(CURL *handle, curl_closesocket_callback function) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, function);
}

// Options of a multi handle.

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_socket_function(CURLM *multi, curl_socket_callback function) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
}

static inline CURLMcode ccurl_multi_set_timer_function(CURLM *multi, curl_multi_timer_callback function) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
}

// What a transfer has measured. Each gives zero or NULL when it is unknown.

static inline long ccurl_info_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t ccurl_info_offset(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

static inline const char *ccurl_info_string(CURL *handle, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : NULL;
}

static inline void *ccurl_info_private(CURL *handle) {
    char *value = NULL;
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value) == CURLE_OK ? (void *)value : NULL;
}

/// OpenSSL's `SSL *` of the transfer's connection; NULL with any other TLS library and without TLS.
static inline const void *ccurl_info_openssl(CURL *handle) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

typedef const char *(*ccurl_openssl_version_function)(const void *ssl);

/// OpenSSL's `SSL_get_version`, taken from the copy that libcurl has loaded; NULL when it has loaded none.
static inline ccurl_openssl_version_function ccurl_find_openssl_version(void) {
    return (ccurl_openssl_version_function)dlsym(RTLD_DEFAULT, "SSL_get_version");
}

typedef int (*ccurl_openssl_shutdown_function)(const void *ssl);

/// OpenSSL's `SSL_get_shutdown`, likewise.
static inline ccurl_openssl_shutdown_function ccurl_find_openssl_shutdown(void) {
    return (ccurl_openssl_shutdown_function)dlsym(RTLD_DEFAULT, "SSL_get_shutdown");
}

/// Has OpenSSL, when that is what libcurl has loaded, keep its memory when the process ends. It would free it while other threads
/// may be using it. Without effect once OpenSSL is in use.
static inline void ccurl_keep_openssl(void) {
    typedef int (*function)(uint64_t options, const void *settings);
    const uint64_t without_exit_handler = 0x00080000; // OPENSSL_INIT_NO_ATEXIT
    function initialize = (function)dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    if (initialize != NULL) initialize(without_exit_handler, NULL);
}

/// The version of the libcurl that is loaded, as `LIBCURL_VERSION_NUM` writes it.
static inline unsigned int ccurl_version(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }

/// Whether the libcurl that is loaded was built with HTTP/3.
static inline int ccurl_has_http3(void) { return (curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP3) != 0; }

// Constants whose macros Swift can't read, and those that the oldest headers lack.

/// `CURL_HTTP_VERSION_3ONLY`, since 7.88.0.
static inline long ccurl_http3_only(void) { return 31; }

static inline size_t ccurl_pause_writing(void) { return CURL_WRITEFUNC_PAUSE; }
static inline size_t ccurl_pause_reading(void) { return CURL_READFUNC_PAUSE; }
static inline size_t ccurl_abort_reading(void) { return CURL_READFUNC_ABORT; }
static inline long ccurl_basic_authentication(void) { return (long)CURLAUTH_BASIC; }

// Linux.

static inline int ccurl_socket(int family, int type, int protocol) {
    return socket(family, type | SOCK_CLOEXEC, protocol);
}

/// A socket whose other end is closed, so that a connection over it is dead; -1 when the system gives none.
static inline int ccurl_dead_socket(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    close(ends[1]);
    return ends[0];
}

/// The port of a socket's own end; zero when it has none.
static inline int ccurl_local_port(int descriptor) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

/// Whether nothing has come in on a socket: neither bytes, nor the end, nor an error.
static inline int ccurl_is_silent(int descriptor) {
    char byte;
    return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

/// Puts another socket in the place of one, which is closed thereby.
static inline int ccurl_replace_socket(int descriptor, int other) { return dup3(other, descriptor, O_CLOEXEC); }

/// How many bytes have come in on a TCP socket since it was opened; zero for another kind.
static inline uint64_t ccurl_received(int descriptor) {
    // `tcpi_bytes_received`, 128 bytes into the kernel's `struct tcp_info`, of which the C library's header knows less.
    char info[136];
    uint64_t count = 0;
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &length) == 0 && length == sizeof info)
        memcpy(&count, info + 128, sizeof count);
    return count;
}

/// The processor time that a thread has taken, in nanoseconds; zero when it isn't known.
static inline uint64_t ccurl_thread_time(pthread_t thread) {
    clockid_t clock;
    struct timespec time;
    if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif
#endif
