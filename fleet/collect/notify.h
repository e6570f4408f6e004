// Tells systemd when reports can be delivered, so that what is ordered behind the receiver waits for it.
#pragma once

#include <string_view>

namespace gpucheck::fleet::collect {

/// sd_notify(3) without its library: one datagram to $NOTIFY_SOCKET, nothing where that is not set.
void tell_systemd(std::string_view state);

}  // namespace gpucheck::fleet::collect
