// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `distributed` in the spec changes it, then `openreg-gen generate`.
#pragma once

#include <memory>

#include "distributed/Transport.h"

// Note [Gloo]
// PyTorch's Gloo moves host memory, and its threads can't touch device memory. So each transfer is a function on the
// stream that copies device memory to pinned memory, lets Gloo move that and waits for it, and copies the result back: the
// stream waits for the other ranks, the host doesn't. That needs a device whose launched functions reach its memory. If any
// thread of the host does (hostAccessible is 2), Gloo works on that memory itself, without copies. On any other device
// the calling thread does the same (Note [Host code on device memory] in host/Memory.h): everything works, nothing overlaps,
// and two ranks that each send before they receive must do both in one batch_isend_irecv().
//
// Gloo counts its collectives, and each rank must start them in the same order. On one stream they do; on streams of several
// devices a ticket says whose turn it is to start. Sends and receives have tags and need none.
//
// A failure is reported three times: to the Work, to the group, which then refuses further calls, and to the device, so
// that reading the tensor raises it: Note [Errors of the device] in runtime/Exception.h.

namespace openreg::distributed {

std::unique_ptr<Transport> new_gloo_transport(const TransportOptions& options);

}  // namespace openreg::distributed
