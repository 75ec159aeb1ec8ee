// SHA-256, by libcrypto. Thread-safe.
#pragma once

#define OPENSSL_SUPPRESS_DEPRECATED  // the plain functions: EVP would link and load all of OpenSSL
#include <openssl/sha.h>

#include <string>
#include <string_view>

namespace openreg_gen {

class Sha256 {
 public:
  Sha256() { SHA256_Init(&state_); }
  void add(std::string_view bytes) { SHA256_Update(&state_, bytes.data(), bytes.size()); }
  /// The digest in lower-case hex. Ends the object's life: add nothing after it.
  std::string hex();

 private:
  SHA256_CTX state_;
};

std::string sha256(std::string_view bytes);

}  // namespace openreg_gen
