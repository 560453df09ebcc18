#!/bin/bash
# Runs on the booted machine: types what an administrator types, and writes what was typed, what came of it, and how long each step
# took into /srv/result. `FAILED` begins what did not hold.
# The versions of the two packages.
# shellcheck source=/dev/null
. /srv/company/versions.sh
say() { printf '%s\n' "$*" >>/srv/result; }
fail() { say "FAILED  $*"; }
finish() {
  [ -z "$began" ] || say "        ($((SECONDS - began)) s)"
  began=
}
step() {
  finish
  say ''
  say "## $*"
  began=$SECONDS
}
# Without the secrets of this day, and the middle of what is long.
readable() {
  sed -E 's/.*\r(.)/\1/; s/\r$//; s/\x1b\[[0-9;?]*[a-zA-Z]//g; s/errand_[A-Za-z0-9_-]{20,}/errand_…/g; s/^( *Password +).*/\1…/; s/^/    /' |
    awk '{ line[NR] = $0 } END { for (i = 1; i <= NR; i++) if (NR <= 26 || i <= 8 || i > NR - 16) print line[i]; else if (i == 9) print "    …" }'
}
shown() { readable </srv/said >>/srv/result; }
prompt() { sed "1s/^/$(hostname):~# /; 2,\$s/^/> /" <<<"$1" | sed -E 's/errand_[A-Za-z0-9_-]{20,}/errand_…/g' >>/srv/result; }
# Typed as it stands, in a shell that keeps what is exported. It must succeed.
types() {
  prompt "$1"
  eval "$1" >/srv/said 2>&1 </dev/null
  local code=$?
  shown
  [ "$code" = 0 ] || fail "that ended with $code"
}
# The same, of a command that is to be refused.
refused() {
  prompt "$1"
  eval "$1" >/srv/said 2>&1 </dev/null
  local code=$?
  shown
  [ "$code" != 0 ] || fail 'that was not refused'
}
# On a terminal, where the command asks, and the answer is yes: again and again, since apt drops what was typed before it asks.
answers() {
  prompt "$1"
  while sleep 1 && echo y; do :; done 2>/dev/null | timeout 300 script -qec "$1" /dev/null >/srv/said 2>&1
  local code=$?
  sed -i '/^y\r*$/d; /^\r*$/d' /srv/said
  shown
  [ "$code" = 0 ] || fail "that ended with $code"
}
# An editor, left with this text in the file, or at its end.
edits() { # file, -a
  prompt "editor $1"
  tee ${2:-} "$1" | sed 's/^/    | /' >>/srv/result
}
# What the last command said.
sees() { grep -qE -- "$1" /srv/said && say "  ok    $2" || fail "$2: nothing said '$1'"; }
holds() {
  local what=$1
  shift
  if "$@" >>/srv/log 2>&1; then say "  ok    $what"; else fail "$what"; fi
}
within() { # seconds, command
  local end=$((SECONDS + $1))
  shift
  until "$@" >>/srv/log 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}
# A turn of a user's own program, at the address of the day.
ask() { # key, words, directives of the model
  curl -sS "https://$host:8443/openapi/v1/messages" -H "x-api-key: $1" -H 'content-type: application/json' \
    -d "{\"model\":\"errand\",\"messages\":[{\"role\":\"user\",\"content\":\"[[text=$2]] ${3:-}\"}]}"
}
host=errand.example.com

# For later visits, and the other machine.
keeps() { printf '%s=%q\n' "$1" "${!1}" >>/srv/notes/kept; }

say booted
# The container shuts what a machine leaves open: bubblewrap limits the namespaces of a command there.
mount -o remount,bind,rw /proc/sys
export HOME=/root DEBIAN_FRONTEND=noninteractive NO_COLOR=1 TERM=dumb
cd /root || exit
within 20 test -e /srv/company/ready
# shellcheck source=/dev/null
[ ! -e /srv/notes/kept ] || source /srv/notes/kept
for part in /srv/steps/*.sh; do
  # shellcheck source=/dev/null
  source "$part"
done
finish
journalctl --no-pager -o cat -u errand >/srv/journal
say done
