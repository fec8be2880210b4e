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

#endif
#endif
