# No connection is lost while the daemon restarts.
program client-loop /srv/stop-loop >/srv/loop 2>&1 &
loop=$!
within 10 grep -q first /srv/loop
errand chat '[[shell=sleep 3; echo finished]] [[text=in good order]]' >/srv/answer 2>>/srv/log &
chat=$!
check 'a run is in progress' within 10 in_progress
check 'the service restarts while requests arrive' systemctl restart errand
wait "$chat"
check 'its run had the time to end' grep -q 'in good order' /srv/answer
check 'it restarts again' systemctl restart errand
touch /srv/stop-loop
wait "$loop"
check 'every request during these restarts was answered' grep -q '^lost 0 of' /srv/loop
say "        $(tail -n 1 /srv/loop)"
kill -KILL "$(property MainPID)"
check 'a request after a hard kill waits for the next daemon' listens
check 'a daemon that is killed is started again' errand status --wait --timeout 60s
check 'once' test "$(property NRestarts)" = 1
# The daemon answers a moment before systemd has heard of it.
check 'and the service is active' within 10 systemctl is-active errand
systemctl stop errand >>/srv/log 2>&1
check 'a request starts a daemon that was stopped' listens
check 'and it is ready then' within 10 systemctl is-active errand
