// Written by openreg-gen from openreg.yaml.
// Generated: do not edit; `device` in the spec changes it, then `openreg-gen generate`.
#include "graph.h"

namespace openreg::driver {

Graph::~Graph() {
  for (const auto& [object, release] : retained_) release(object);
}

void Graph::run(const Activity* launch) const {
  for (const Node& node : nodes_) {
    if (launch == nullptr) {
      node.run();
      continue;
    }
    Activity activity = *launch;
    activity.kind = node.what.kind;
    activity.name = node.what.name;
    activity.copy = node.what.copy;
    activity.pageable = node.what.pageable ? 1 : 0;
    activity.bytes = node.what.bytes;
    activity.replayed = 1;
    activity.start = Activities::now();
    node.run();
    activity.end = Activities::now();
    Activities::finish(activity);
  }
}

}  // namespace openreg::driver
