# A stop takes the time of the drain, whatever the unit says.
with TimeoutStopSec=2
systemctl restart errand >>/srv/log 2>&1
errand chat '[[shell=sleep 6; echo finished]] [[text=drained]]' >/srv/answer 2>>/srv/log &
chat=$!
check 'a run is in progress' within 10 in_progress
systemctl stop errand.socket errand.service >>/srv/log 2>&1 &
stop=$!
check 'the status says that the daemon stops' within 5 status_says '^Stopping: 1 run in progress, with up to 30 s'
wait "$stop"
wait "$chat"
check 'a run of six seconds ends, though the unit has two' grep -q 'drained' /srv/answer
check 'with status 0' test "$(property ExecMainStatus) $(property Result)" = '0 success'
check 'nothing listens any more' eval '! listens'
with
