#ifndef MIDSTREAM_CCRYPTO_H
#define MIDSTREAM_CCRYPTO_H
#include <openssl/evp.h>
#include <openssl/hmac.h>
#endif
