#!/bin/bash
# Runs on the booted system: installs the service as the documentation says, and writes a line for each promise into
# /srv/result. `ok` or `FAILED` begins each; `done` is the last.
say() { echo "$*" >>/srv/result; }
check() {
  local what=$1
  shift
  if "$@" >>/srv/log 2>&1; then say "ok      $what"; else say "FAILED  $what"; fi
}
errand() { sudo -u errand --preserve-env=ERRAND_API_KEY errand --data-dir /var/lib/errand "$@"; }
listens() {
  exec 3<>/dev/tcp/127.0.0.1/8484 && printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3 | grep -q ' 200 '
}
property() { systemctl show --value --property "$1" errand; }

say booted
# The container shuts what a machine leaves open: bubblewrap limits the namespaces of a command there.
mount -o remount,bind,rw /proc/sys
cd /srv/checkout || exit
/srv/checkout/node /srv/checkout/model/model-server-main.ts --port 9797 >/srv/log 2>&1 &

bash -ex /srv/install.sh >>/srv/log 2>&1 || say 'FAILED  the commands of the documentation'
check 'a service that has started listens' listens
restarts_listening() {
  for _ in 1 2 3; do systemctl restart errand && listens || return 1; done
}
check 'so does one that has been started again, each time' restarts_listening
check 'the configuration belongs to root' test "$(stat -c %U /etc/errand)" = root
check 'the first credentials are in a file for the daemon alone' \
  test "$(stat -c %a /var/lib/errand/first-credentials)" = 600
in_the_journal() { journalctl -u errand | grep -q 'errand_[A-Za-z0-9_-]\{8\}_'; }
check 'and in no journal' eval '! in_the_journal'
check 'every part is well, the sandbox among them' errand status --check

cp /srv/models.yaml /etc/errand/models.yaml
pid=$(property MainPID)
check 'systemctl reload takes the configuration up' systemctl reload errand
reloaded() {
  for _ in $(seq 50); do errand models list | grep -q scripted && return; sleep 0.2; done
  return 1
}
check 'the new model is there' reloaded
check 'in the same process' test "$(property MainPID)" = "$pid"
kill -HUP "$pid"
check 'SIGHUP ends nothing' errand status --wait
check 'config check asks the daemon' \
  eval "errand config check | grep -q '^The configuration in /etc/errand is right.$'"

ERRAND_API_KEY=$(sed -n 's/^ *API key *//p' /var/lib/errand/first-credentials)
export ERRAND_API_KEY
run=$(errand chat '[[shell=hostname; test ! -e /var/lib/errand && test ! -e /run/systemd && test -z "$NOTIFY_SOCKET" && echo walled]]' -o json 2>>/srv/log |
  sed -n 's/^  "run_id": "\(.*\)".*/\1/p')
seen() { errand runs tail "$run" -o json | grep '"type":"tool_result"' | grep '"ok":true' | grep -q 'sandbox.*walled'; }
check 'an agent runs a command behind the walls' seen

kill -KILL "$(property MainPID)"
check 'a daemon that is killed is started again' errand status --wait --timeout 60s
check 'once' test "$(property NRestarts)" = 1
active() {
  # The daemon answers a moment before systemd has heard of it.
  for _ in $(seq 100); do systemctl is-active errand && return; sleep 0.1; done
  return 1
}
check 'and the service is active' active

errand chat '[[shell=sleep 4; echo finished]] [[text=in good order]]' >/srv/answer 2>>/srv/log &
chat=$!
in_progress() {
  for _ in $(seq 100); do errand runs list --status running | grep -q . && return; sleep 0.1; done
  return 1
}
check 'a run is in progress' in_progress
check 'the service stops' systemctl stop errand
wait "$chat"
check 'its run had the time to end' grep -q 'in good order' /srv/answer
check 'with status 0' test "$(property ExecMainStatus) $(property Result)" = '0 success'
journalctl -u errand --no-pager -o cat >/srv/journal
say done
