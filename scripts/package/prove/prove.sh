#!/bin/bash
# Runs on the booted Debian: takes the package through its life, and writes a line for each promise into /srv/result. `ok` or
# `FAILED` begins each; `done` is the last. The packages in /srv are made by prove/main.ts.
say() { echo "$*" >>/srv/result; }
check() {
  local what=$1
  shift
  echo "--- $what" >>/srv/log
  if "$@" >>/srv/log 2>&1; then say "ok      $what"; else say "FAILED  $what"; fi
}
within() { # seconds, command
  local end=$((SECONDS + $1))
  shift
  until "$@" >>/srv/log 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}
fails_saying() {
  local words=$1
  shift
  "$@" && return 1
  cat /srv/said
  grep -q "$words" /srv/said
}
install_deb() { DEBIAN_FRONTEND=noninteractive dpkg -i "/srv/$1.deb" </dev/null >/srv/said 2>&1; }
apt_install() { # package, options
  DEBIAN_FRONTEND=noninteractive apt-get install -y "${@:2}" "/srv/$1.deb" </dev/null >/srv/said 2>&1
}
enable_socket() { systemctl stop errand && systemctl enable --now errand.socket errand; }
start_loop() { rm -f /srv/stop-loop && { "${1:-/usr/lib/errand/node}" /srv/client-loop.mjs /srv/stop-loop >/srv/loop 2>&1 & loop=$!; }; }
stop_loop() { touch /srv/stop-loop && wait "$loop"; }
is_whole() { ! dpkg --verify errand | grep -v ' c '; }
errand() { runuser -u errand -- env ERRAND_API_KEY="$ERRAND_API_KEY" errand --data-dir /var/lib/errand "$@"; }
as_root() { command errand --data-dir /var/lib/errand "$@"; }
ready() { errand status --wait --timeout 60s; }
version() { errand status -o json | sed -n 's/^ *"version": "\([0-9.]*\).*/\1/p' | head -n 1; }
mode() { stat -c '%U:%G %a' "$1"; }
pid() { systemctl show --value --property MainPID errand; }
api() { # path, arguments of curl
  curl -sS --max-time 90 "http://127.0.0.1:8484/openapi/v1/$1" -H "x-api-key: $ERRAND_API_KEY" "${@:2}"
}
message() { # text, more fields of the body, arguments of curl
  local body="{\"model\":\"errand\",\"messages\":[{\"role\":\"user\",\"content\":\"$1\"}]$2}"
  api messages -H 'content-type: application/json' -d "$body" "${@:3}"
}
header_of() { sed -n "s/^$1: *\([0-9a-f-]*\).*/\1/ip" "$2"; }

say booted
export HOME=/root
cd /srv || exit
for part in /srv/parts/*.sh; do
  # shellcheck source=/dev/null
  source "$part"
done
journalctl --no-pager -o cat -u errand >/srv/journal
say done
