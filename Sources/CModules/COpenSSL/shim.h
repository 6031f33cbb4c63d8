#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// What Swift cannot see: macros that are calls, macros that are casts, and types made by macros.

// The peer speaks TLS 1.3 or not at all.
static inline int COpenSSL_only_tls_1_3(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1
        && SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1;
}

// Sizes of certificate messages above this end the handshake before they are stored.
static inline void COpenSSL_set_max_cert_list(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

// No tickets, no session cache: nothing of a handshake outlives its connection. No certificates added to our one.
static inline void COpenSSL_forget_sessions(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN);
}

static inline int COpenSSL_set_sigalgs(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_sigalgs_list(context, list) == 1;
}

// How many certificates the peer sent.
static inline int COpenSSL_certificate_count(X509_STORE_CTX *context) {
    return sk_X509_num(X509_STORE_CTX_get0_untrusted(context));
}

static const int COpenSSL_ED25519 = EVP_PKEY_ED25519;
static const int COpenSSL_MBSTRING_ASC = MBSTRING_ASC;
static const unsigned int COpenSSL_EXTENSION_ALPN = TLSEXT_TYPE_application_layer_protocol_negotiation;

// An error that is an alert of the peer has the number of the alert (RFC 8446 section 6) above an offset.
static inline int COpenSSL_alert_of(unsigned long error) {
    int reason = ERR_GET_REASON(error);
    return ERR_GET_LIB(error) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET ? reason - SSL_AD_REASON_OFFSET : -1;
}
static inline int COpenSSL_reason_of(unsigned long error) {
    return ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : -1;
}
