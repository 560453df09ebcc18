# A daemon whose event loop hangs is started again, and what it had accepted is still there.
with WatchdogSec=6 TimeoutAbortSec=2 Environment=NODE_OPTIONS=--require=/srv/checkout/programs/block-loop.cjs
systemctl restart errand >>/srv/log 2>&1
pid=$(property MainPID)
kill -USR1 "$pid"
sleep 14
check 'a healthy daemon outlives its watchdog' test "$(property MainPID)" = "$pid"
check 'no signal opens a debugger' eval '! (exec 3<>/dev/tcp/127.0.0.1/9229)'
errand chat '[[shell=sleep 4; echo finished]] [[text=after the watchdog]]' >/srv/answer 2>>/srv/log &
chat=$!
check 'a run is in progress' within 10 in_progress
accepted=$(errand runs list --status running | head -n 1 | cut -f 1)
check 'the event loop is blocked' kill -USR2 "$pid"
restarted() { test "$(property MainPID)" != "$pid" && systemctl is-active errand; }
check 'systemd starts the daemon again' within 30 restarted
check 'because of the watchdog' eval 'journalctl -u errand | grep -q "Watchdog timeout"'
wait "$chat"
completed() { errand runs show "$accepted" -o json | grep -q '"status": "completed"'; }
check 'the run that was in progress is completed' within 30 completed
pid=$(property MainPID)
kill -STOP "$pid"
check 'a process that stands still is started again too' within 40 restarted
with
