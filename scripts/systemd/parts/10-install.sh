# The service is installed as the documentation says, and listens.
/srv/checkout/node /srv/checkout/model/model-server-main.ts --port 9797 >/srv/log 2>&1 &
bash -ex /srv/install.sh >>/srv/log 2>&1 || say 'FAILED  the commands of the documentation'
check 'a service that has started listens' listens
restarts_listening() {
  for _ in 1 2 3; do systemctl restart errand && listens || return 1; done
}
check 'so does one that has been started again, each time' restarts_listening
nothing_to_do() { /usr/bin/errand service install 2>&1 | grep -q '^There is nothing to do'; }
check 'a second installation has nothing to do' nothing_to_do
check 'the configuration belongs to root' test "$(stat -c %U /etc/errand)" = root
check 'the first credentials are in a file for the daemon alone' \
  test "$(stat -c %a /var/lib/errand/first-credentials)" = 600
in_the_journal() { journalctl -u errand | grep -q 'errand_[A-Za-z0-9_-]\{8\}_'; }
check 'and in no journal' eval '! in_the_journal'
check 'every part is well, the sandbox among them' errand status --check
check 'systemctl status shows what the daemon does' status_says '^Listening on http://127.0.0.1:8484; 0 runs in progress$'
say "        $(systemd-analyze security --no-pager errand.service | tail -n 1)"
ERRAND_API_KEY=$(sed -n 's/^ *API key *//p' /var/lib/errand/first-credentials)
export ERRAND_API_KEY
