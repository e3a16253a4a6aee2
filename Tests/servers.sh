#!/usr/bin/env bash
# Runs a command with real servers: InfluxDB 1.x and VictoriaMetrics, on free ports of the loopback interface, with temporary
# folders. Their addresses are in INFLUX_V1_URL and VICTORIA_URL.
#
#   Tests/servers.sh COMMAND [ARGUMENT…]
#
# It installs nothing. On Debian, the packages are influxdb and victoria-metrics.
set -euo pipefail

[ $# -gt 0 ] || { echo "Usage: Tests/servers.sh COMMAND [ARGUMENT…]" >&2; exit 2; }

# Finds a program, or names the Debian package that has it.
require() {
    command -v "$1" >/dev/null || {
        echo "There is no program '$1'; on Debian it is in the package '$2'." >&2
        exit 1
    }
}
require influxd influxdb
require victoria-metrics victoria-metrics
require curl curl
require python3 python3

folder=$(mktemp -d)
servers=()
stop() {
    local status=$?
    trap - EXIT INT TERM HUP
    for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
    for server in "${servers[@]}"; do wait "$server" 2>/dev/null || true; done
    rm -rf "$folder"
    exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Ports that were free a moment ago. If another process takes one before the server does, the server ends and we try others.
free_ports() {
    python3 -c 'import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for each in sockets: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))' "$1"
}

start_influx() {
    read -r api rpc < <(free_ports 2)
    local home="$folder/influx-$api"
    mkdir -p "$home"
    cat >"$home/influxdb.conf" <<CONFIGURATION
reporting-disabled = true
bind-address = "127.0.0.1:$rpc"
[meta]
  dir = "$home/meta"
[data]
  dir = "$home/data"
  wal-dir = "$home/wal"
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:$api"
  log-enabled = false
CONFIGURATION
    influxd -config "$home/influxdb.conf" >"$home/log" 2>&1 &
    server=$! log="$home/log" url="http://127.0.0.1:$api" probe="http://127.0.0.1:$api/ping"
}

start_victoria() {
    read -r api < <(free_ports 1)
    local home="$folder/victoria-$api"
    mkdir -p "$home"
    victoria-metrics -storageDataPath="$home/data" -httpListenAddr="127.0.0.1:$api" -retentionPeriod=100y \
        >"$home/log" 2>&1 &
    server=$! log="$home/log" url="http://127.0.0.1:$api" probe="http://127.0.0.1:$api/health"
}

# Starts a server and waits until it responds; if it ends instead, tries other ports.
start() {
    for _ in 1 2 3; do
        "start_$1"
        servers+=("$server")
        while kill -0 "$server" 2>/dev/null; do
            if curl -sf -o /dev/null --max-time 5 "$probe"; then return; fi
            sleep 0.1
        done
    done
    echo "The server $1 does not start. The last it said:" >&2
    tail -5 "$log" >&2
    exit 1
}

start influx
export INFLUX_V1_URL=$url
start victoria
export VICTORIA_URL=$url

"$@"
