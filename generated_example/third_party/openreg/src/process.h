// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#pragma once

// Note [Fork and exit]
// Threads do not survive fork(): a child's streams would wait for ever. So a child of a process that has used the
//   device is recognised, and gets an error from every call that needs the device. A child forked before the first use
//   is free to use it.
// At exit(), static destructors of other libraries run in an order nobody knows, and may free device memory. So nothing
//   in this library is ever destroyed: what must live is allocated once and leaked on purpose. Queued work is
//   finished first, so that no kernel runs while its code is being unloaded.
namespace openreg::driver {

// Tells that the device is in use from here on. Cheap after the first call.
void note_use();

// True in a child of a process that had used the device.
bool forked() noexcept;

}  // namespace openreg::driver
