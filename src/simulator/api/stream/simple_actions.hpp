// SPDX-License-Identifier: Apache-2.0
//
// Nodes that call the host, record events, and wait for them.
#pragma once

#include <memory>

#include "simulator/api/graph/graph_action.hpp"
#include "simulator/api/stream/event.hpp"

namespace cudacore::simulator {

SharedAction make_host_action(CUhostFn function, void* data);
SharedAction make_record_action(CUevent handle, std::shared_ptr<Event> event);
SharedAction make_wait_action(CUevent handle, std::shared_ptr<Event> event);

}  // namespace cudacore::simulator
