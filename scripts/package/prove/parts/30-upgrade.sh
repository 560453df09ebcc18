# Upgraded under load: a stream, background runs, and clients that keep asking.
check 'a drain may take five seconds' as_root --config-dir /etc/errand config set streams.drain_seconds 5
check 'errand.socket is enabled' enable_socket
check 'the daemon is ready' ready
start_loop
words='a stream that is interrupted by an upgrade, continued by the next daemon, and read to its very end'
message "[[text=$words]] [[deltas=100 every=250]]" ',"stream":true' -N -D /srv/stream-headers >/srv/stream 2>>/srv/log &
stream=$!
declare -a background=()
for number in 1 2 3 4; do
  background+=("$(message "[[text=background $number]] [[first=15000]]" ",\"background\":true,\"idempotency_key\":\"load-$number\"" |
    sed -n 's/.*"run_id": *"\([^"]*\)".*/\1/p')")
done
errand chat '[[text=in good order]] [[deltas=13 every=300]]' >/srv/answer 2>>/srv/log &
chat=$!
running() { [ "$(errand runs list --status running -o json | grep -c '"status": "running"')" -ge "$1" ]; }
check 'a stream and two of four background runs are in progress' within 15 running 3
before=$(pid)
check 'a newer version installs over the running one' install_deb second
wait "$chat"
check 'a short run had the time to end' grep -q 'in good order' /srv/answer
check 'the new version runs' test "$(version)" = 9.9.1
check 'in another process' test "$(pid)" != "$before"
has_answer() { api "runs/$1" | grep -q "background $2"; }
for number in 1 2 3 4; do
  check "background run $number is completed" within 90 has_answer "${background[number - 1]}" "$number"
done
wait "$stream"
check 'the stream was told of the restart' grep -q 'restarting' /srv/stream
streamed=$(header_of x-run-id /srv/stream-headers)
last=$(sed -n 's/^id: *//p' /srv/stream | tail -n 1)
api "runs/$streamed/stream" -N -H "Last-Event-ID: $last" >/srv/rejoined 2>>/srv/log
check 'rejoined, it comes to its end' grep -q '^event: message_stop' /srv/rejoined
interrupted=$(header_of x-session-id /srv/stream-headers)
check 'with all that was to be said' eval 'api "sessions/$interrupted/messages" | grep -q "$words"'
stop_loop
check 'no connection was refused meanwhile' grep -q '^lost 0 of' /srv/loop
say "        $(tail -n 1 /srv/loop)"
check 'changed configuration stayed' grep -q scripted /etc/errand/models.yaml
check 'the first session has its history' eval 'errand sessions messages "$session" | grep -q "the first answer"'
