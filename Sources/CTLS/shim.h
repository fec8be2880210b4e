#ifndef MIDSTREAM_CTLS_H
#define MIDSTREAM_CTLS_H

// OpenSSL, for the wire transport. Swift can call all of it but the macros, which are calls of SSL_ctrl and its like.

#ifdef __linux__

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#if OPENSSL_VERSION_NUMBER < 0x30000000L || defined(LIBRESSL_VERSION_NUMBER) || defined(OPENSSL_IS_BORINGSSL)
#error "Midstream's wire needs OpenSSL 3.0 or newer. With the package trait Curl or URLSession in its place it needs none."
#endif

#endif
#endif
