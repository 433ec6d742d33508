# shellcheck shell=bash
# Hosts that are network name spaces of one machine: sourced in name spaces of one's own (mount, net, pid).

# start_network WORK N: n1 ... nN with the addresses 10.77.0.11, ... on a bridge; this name space is `control`, 10.77.0.1.
start_network() {
  local work=$1 n=$2 i
  mount --make-rprivate /
  mount -t tmpfs tmpfs /run
  mkdir /run/netns
  # Ranks of two nodes must not meet in one memory, nor jobs here those outside.
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  hostname control
  printf '127.0.0.1 localhost\n10.77.0.1 control\n' >"$work/hosts"
  ip link set lo up
  ip link add name nodes type bridge
  ip address add 10.77.0.1/24 dev nodes
  ip link set nodes up
  for ((i = 1; i <= n; ++i)); do
    ip netns add n$i
    ip link add name to_n$i type veth peer name eth0 netns n$i
    ip link set to_n$i master nodes up
    ip -n n$i link set lo up
    ip -n n$i address add 10.77.0.$((10 + i))/24 dev eth0
    ip -n n$i link set eth0 up
    echo "10.77.0.$((10 + i)) n$i" >>"$work/hosts"
  done
  mount --bind "$work/hosts" /etc/hosts
}
