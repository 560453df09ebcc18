#!/bin/bash
# Runs on the booted system: installs the service as the documentation says, and writes a line for each promise into
# /srv/result. `ok` or `FAILED` begins each; `done` is the last.
say() { echo "$*" >>/srv/result; }
check() {
  local what=$1
  shift
  if "$@" >>/srv/log 2>&1; then say "ok      $what"; else say "FAILED  $what"; fi
}
listens() {
  exec 3<>/dev/tcp/127.0.0.1/8484 && printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3 | grep -q ' 200 '
}
property() { systemctl show --value --property "$1" errand; }
status_says() { property StatusText | grep -q "$1"; }
within() { # seconds, command
  local end=$((SECONDS + $1))
  shift
  until "$@" >>/srv/log 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}
in_progress() { errand runs list --status running | grep -q .; }
# Lines of [Service] that hold until the next call; none removes them.
with() {
  local file=/etc/systemd/system/errand.service.d/proof.conf
  mkdir -p "${file%/*}"
  { echo '[Service]' && printf '%s\n' "$@"; } >"$file"
  (($# > 0)) || rm -f "$file"
  systemctl daemon-reload
  # More starts than a fast machine may have within the five minutes of StartLimitIntervalSec.
  systemctl reset-failed errand.service errand.socket >>/srv/log 2>&1
}
program() { /srv/checkout/node "/srv/checkout/programs/$1.mjs" "${@:2}"; }

say booted
# The container shuts what a machine leaves open: bubblewrap limits the namespaces of a command there.
mount -o remount,bind,rw /proc/sys
cd /srv/checkout || exit
for part in /srv/checkout/parts/*.sh; do
  # shellcheck source=/dev/null
  source "$part"
done
journalctl -u errand --no-pager -o cat >/srv/journal
say done
