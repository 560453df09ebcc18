# A reload returns when it has been taken up, and fails when a file is invalid.
cp /srv/models.yaml /etc/errand/models.yaml
pid=$(property MainPID)
check 'systemctl reload takes the configuration up' systemctl reload errand
has_model() { errand models list | grep -q scripted; }
check 'the new model is there when it returns' has_model
check 'in the same process' test "$(property MainPID)" = "$pid"
echo 'broken: true' >>/etc/errand/models.yaml
check 'a reload of an invalid file fails' eval '! systemctl reload errand'
check 'the status says what is wrong' status_says 'configuration degraded: models.yaml:4:1 broken'
check 'the last valid state stays in effect' has_model
check 'in a service that is active' systemctl is-active errand
check 'the journal has it as an error' eval 'journalctl -u errand -p err -o cat | grep -q "configuration refused"'
check 'and nothing else as one' eval '! journalctl -u errand -p err -o cat | grep -q "\"level\":\"info\""'
check 'its lines are JSON behind the priority' eval 'journalctl -t errand -p err -o cat | grep -q "^{\"level\":\"error\""'
check 'errand logs shows it' eval '/usr/bin/errand logs --level error | grep -q "error configuration refused"'
check 'errand logs shows what systemd says, too' eval '/usr/bin/errand logs --since 1h | grep -q "^Started "'
check 'errand logs -o json has an object on each line' eval '/usr/bin/errand logs -o json | grep -q . && ! /usr/bin/errand logs -o json | grep -v "^{"'
check 'errand logs says who can read it' eval 'sudo -u errand errand logs 2>&1 | grep -q "group systemd-journal"'
/usr/bin/errand logs -f --level error >/srv/followed &
followed=$!
cp /srv/models.yaml /etc/errand/models.yaml
check 'a valid file can be reloaded' systemctl reload errand
check 'the status says that all is well' status_says 'in progress$'
kill -HUP "$pid"
check 'SIGHUP ends nothing' errand status --wait
check 'config check asks the daemon' \
  eval "errand config check | grep -q '^The configuration in /etc/errand is valid.$'"
echo 'worse: true' >>/etc/errand/models.yaml
systemctl reload errand
check 'errand logs -f follows the journal' within 20 grep -q 'worse' /srv/followed
kill -INT "$followed"
check 'and ends well on Ctrl-C' eval 'wait "$followed"'
cp /srv/models.yaml /etc/errand/models.yaml
systemctl reload errand
