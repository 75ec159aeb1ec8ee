// Owned by you: openreg-gen wrote it once, and never will again.
// Move or rename it as you like; it is found by this mark: [openreg-gen csrc/distributed/NewTransport.cpp]
// Which library moves the bytes of collectives. Until you write a Transport over yours, Gloo does, through the host:
// docs/distributed.md says what such a class looks like for a library of NCCL's shape.
#include "distributed/GlooTransport.h"
#include "distributed/Transport.h"

namespace openreg::distributed {

std::unique_ptr<Transport> new_transport(const TransportOptions& options) { return new_gloo_transport(options); }

}  // namespace openreg::distributed
