#!/bin/bash
# Runs on the booted Debian: takes the package through its life, and writes a line for each promise into /srv/result. `ok` or
# `FAILED` begins each; `done` is the last. The packages in /srv are made by prove/main.ts.
say() { echo "$*" >>/srv/result; }
check() {
  local what=$1
  shift
  if "$@" >>/srv/log 2>&1; then say "ok      $what"; else say "FAILED  $what"; fi
}
install_deb() { DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i "/srv/$1.deb" >/srv/said 2>&1; }
fails_saying() {
  local words=$1
  shift
  "$@" && return 1
  cat /srv/said
  grep -q "$words" /srv/said
}
errand() { runuser -u errand -- env ERRAND_API_KEY="$ERRAND_API_KEY" errand --data-dir /var/lib/errand "$@"; }
ready() { errand status --wait --timeout 60s; }
version() { errand status -o json | sed -n 's/^ *"version": "\([0-9.]*\).*/\1/p' | head -n 1; }
mode() { stat -c '%U:%G %a' "$1"; }
pid() { systemctl show --value --property MainPID errand; }

say booted
export HOME=/root

check 'the executable starts, with nothing installed' /srv/errand --version
useradd --no-create-home --home-dir /nonexistent nobody2
check 'without a home, in a directory of temporary files' runuser -u nobody2 -- /srv/errand --version
check 'which is for that user alone' test "$(mode /tmp/errand-"$(id -u nobody2)")" = 'nobody2:nobody2 700'
mkdir -p /srv/noexec && mount -t tmpfs -o noexec,mode=1777 none /srv/noexec
check 'not from a directory that is mounted noexec, with the reason' \
  eval 'ERRAND_CACHE_DIR=/srv/noexec/cache /srv/errand --version 2>&1 | grep -q "mounted noexec"'
mkdir -m 777 /srv/open
check 'not from one that others can write to' \
  eval 'ERRAND_CACHE_DIR=/srv/open /srv/errand --version 2>&1 | grep -q "others can write to /srv/open"'

check 'the package installs' install_deb first
check 'the daemon is ready' ready
check 'and enabled' systemctl is-enabled errand
check 'the configuration is readable by the daemon, not by everyone' test "$(mode /etc/errand)" = 'root:errand 750'
check 'the data belongs to the daemon alone' test "$(mode /var/lib/errand)" = 'errand:errand 700'
check 'the manual is there' test -s /usr/share/man/man1/errand.1.gz
check 'so are completions' bash -c 'complete -p errand 2>/dev/null; . /usr/share/bash-completion/completions/errand && complete -p errand'
check 'nothing that the package installed is damaged' eval 'dpkg --verify errand | grep -v " c " | wc -l | grep -qx 0'
/usr/lib/errand/node /srv/model/model-server-main.ts --port 9797 >>/srv/log 2>&1 &
cp /srv/models.yaml /etc/errand/models.yaml
systemctl reload errand
ERRAND_API_KEY=$(sed -n 's/^ *API key *//p' /var/lib/errand/first-credentials)

for unit in errand.service errand.socket; do systemctl show "$unit" -p ActiveState; done >>/srv/log
errand chat '[[text=in good order]] [[deltas=40 every=200]]' >/srv/answer 2>>/srv/log &
chat=$!
in_progress() {
  for _ in $(seq 100); do errand runs list --status running 2>/dev/null | grep -q . && return; sleep 0.1; done
  return 1
}
check 'a run is in progress' in_progress
before=$(pid)
check 'a newer version installs over the running one' install_deb second
wait "$chat"
check 'the run had the time to end' grep -q 'in good order' /srv/answer
check 'the new version runs' test "$(version)" = 9.9.1
check 'in another process' test "$(pid)" != "$before"
check 'changed configuration stayed' grep -q scripted /etc/errand/models.yaml
check 'sessions are there' eval 'errand sessions list | grep -q .'

check 'an older version that reads the database is installed' install_deb first
check 'and runs' ready
check 'one that does not is refused, in words' fails_saying 'reads up to 1\.' install_deb old
check 'and the daemon runs on' test "$(version)" != ''
check 'with its process' systemctl is-active errand

systemctl stop errand
check 'an upgrade of a stopped daemon' install_deb second
check 'leaves it stopped' eval '! systemctl is-active errand'
systemctl start errand

check 'a version that does not become ready fails the upgrade, in words' \
  fails_saying 'does not become ready' install_deb broken
check 'the way back works' install_deb second
systemctl reset-failed errand; systemctl start errand
check 'and the daemon is ready again' ready

mkdir /srv/small && mount -t tmpfs -o size=260m,mode=755 none /srv/small && cp -a /usr/lib/errand/. /srv/small/ &&
  mount --bind /srv/small /usr/lib/errand
before=$(version)
check 'a full disk fails the upgrade' fails_saying 'No space left' install_deb third
check 'and the daemon runs on as it was' ready
check 'in its version' test "$(version)" = "$before"
check 'the package is whole' eval 'dpkg --verify errand | grep -v " c " | wc -l | grep -qx 0'
systemctl stop errand; umount /usr/lib/errand; install_deb second; systemctl start errand

check 'the package is removed' dpkg --remove errand
check 'its daemon is gone' eval '! systemctl is-active errand && ! pgrep -u errand'
check 'configuration and data stay' test -e /etc/errand/models.yaml -a -e /var/lib/errand/errand.db
check 'installed again, it is ready' eval 'install_deb second && ready'
check 'with its sessions' eval 'errand sessions list | grep -q .'
purge() { dpkg --purge errand >/srv/said 2>&1; }
check 'the package is purged' purge
check 'without its configuration' test ! -e /etc/errand
check 'the data stays' test -e /var/lib/errand/errand.db
check 'and the way to remove it is said' grep -q 'rm -r /var/lib/errand' /srv/said
journalctl --no-pager -o cat -u errand >/srv/journal
say done
