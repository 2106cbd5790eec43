#!/bin/sh
# Runs a command with loopback sockets whose buffers hold 16 KB, in a network of its own. Needs root.
# Example: tests/support/programs/small_buffers.sh deno test --allow-all tests/streams/kept_memory_test.ts
# The packet size of a real network: a socket's buffer holds several packets, whatever its limit.
exec unshare --net sh -ec '
ip link set lo mtu 1500 up
echo "4096 16384 16384" >/proc/sys/net/ipv4/tcp_wmem
echo "4096 16384 16384" >/proc/sys/net/ipv4/tcp_rmem
exec "$@"' small_buffers "$@"
