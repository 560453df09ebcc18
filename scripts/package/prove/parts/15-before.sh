# Upgraded from an earlier package by apt, without a terminal, with changed settings, under load; and the way back.
if [ -e /srv/before.deb ]; then
  check 'an earlier package installs' apt_install before
  check 'its daemon is ready' ready
  cp /usr/lib/errand/node /srv/node
  cp /usr/lib/errand/package.json /srv/package-before.json
  /srv/node /srv/model/model-server-main.ts --port 9797 >>/srv/log 2>&1 &
  model=$!
  check 'a setting is changed' as_root --config-dir /etc/errand config set streams.drain_seconds 5
  cp /srv/models.yaml /etc/errand/models.yaml
  cp -a /etc/errand/errand.yaml /srv/errand.yaml
  check 'errand.socket is enabled' enable_socket
  check 'the daemon is ready' ready
  ERRAND_API_KEY=$(sed -n 's/^ *API key *//p' /var/lib/errand/first-credentials)
  message '[[text=by the earlier one]]' '' -D /srv/earlier-headers >/srv/earlier 2>>/srv/log
  check 'it answers' grep -q 'by the earlier one' /srv/earlier
  earlier=$(header_of x-session-id /srv/earlier-headers)

  start_loop /srv/node
  sleep 2
  echo 'nonsense: true' >>/etc/errand/errand.yaml
  before=$(pid)
  check 'over a broken configuration, the upgrade fails in words' fails_saying 'nonsense: is not a' apt_install second
  check 'and the earlier daemon goes on' test "$(pid)" = "$before"
  check 'it sees its own files' cmp "/proc/$before/root/usr/lib/errand/package.json" /srv/package-before.json
  check 'where everybody else sees the new ones' grep -q 9.9.1 /usr/lib/errand/package.json
  check 'it answers' eval 'message "[[text=still here]]" | grep -q "still here"'
  cp -a /srv/errand.yaml /etc/errand/errand.yaml
  check 'mended, apt completes the upgrade' apt_install second
  check 'the new version runs' test "$(version)" = 9.9.1
  stop_loop
  check 'no request was lost meanwhile' grep -q '^lost 0 of' /srv/loop
  say "        $(tail -n 1 /srv/loop)"
  check 'changed settings stayed' cmp /srv/errand.yaml /etc/errand/errand.yaml
  check 'and models' cmp /srv/models.yaml /etc/errand/models.yaml
  check 'no program is left behind' test "$(ls -d /usr/lib/errand.running-* | wc -l)" = 1
  check 'the doctor names the copy of the database' eval 'errand doctor | grep "errand.db.v[0-9]*.backup"'

  # The commands of docs/INSTALLING.md, as an administrator pastes them.
  return_to() { bash -ex <<<"$(sed 's|\./errand_[^ ]*deb|/srv/before.deb|' /srv/return.sh)"; }
  check 'the way back, as documented' return_to
  check 'the earlier daemon is ready' ready
  check 'with its sessions' eval 'errand sessions list -o json | grep -q "$earlier"'
  check 'no program of the later one is left' eval '! ls -d /usr/lib/errand.running*'

  start_loop /srv/node
  check 'upgraded again in one go' apt_install second
  check 'the new version runs' test "$(version)" = 9.9.1
  stop_loop
  check 'no request was lost meanwhile' grep -q '^lost 0 of' /srv/loop
  say "        $(tail -n 1 /srv/loop)"
  check 'nothing is left for systemctl to wait for' eval '! ls /run/errand.replaced /run/errand.package'

  kill "$model"
  dpkg --purge errand >>/srv/log 2>&1
  rm -rf /var/lib/errand
  userdel errand
fi
