# What the kernel counts for each of its users, each thing used up by one command: neither the daemon nor another's command lacks any.
pid=$(property MainPID)
check 'the daemon has users for commands, and is the service’s outside' \
  eval 'test "$(stat -c %U "/proc/$pid")" = errand && grep -q "61000 *61000 *64" "/proc/$pid/uid_map"'
errand users create other >>/srv/log 2>&1
other_key=$(errand keys create --user other --scope global | grep -o 'errand_[A-Za-z0-9_-]*' | head -n 1)
take='perl /usr/share/take-counted.pl'
all='watches=50000000 instances=100000 signals=1000000 queues=1000 locked=10000 pipes=300 processes=10000'
errand chat "[[shell=$take $all HOLD]] [[text=taken]]" -o json >/srv/greedy 2>>/srv/log &
greedy=$!
is_full() { compgen -G '/var/lib/errand/workspaces/*/full'; }
check 'a command takes all it can get' within 90 is_full
# As many as a busy daemon has.
some='watches=20000 instances=12 signals=100 locked=3 pipes=200 processes=20'
some_taken='watches 20000 0\\ninstances 12 0\\nsignals 100 0\\nlocked 3 0\\npipes 200 0\\nprocesses 20 0'
listens_often() { for _ in $(seq 50); do listens || return 1; done; }
check 'the daemon listens meanwhile, on one connection after the other' listens_often
check 'and every part of it is well' errand status --check
check 'another user’s command gets what it needs' eval 'ERRAND_API_KEY=$other_key outcome_has "$take $some" "$some_taken"'
outside() { sudo -u errand perl /usr/share/take-counted.pl $some | tee -a /srv/log | grep -c ' 0$' | grep -q '^6$'; }
check 'and so does the service’s user itself' outside
check 'all the while it has held what it took' in_progress
touch "$(dirname "$(is_full)")/stop"
wait "$greedy"
taken=$(errand runs tail "$(sed -n 's/^  "run_id": "\(.*\)".*/\1/p' /srv/greedy)" -o json | grep '"type":"tool_result"')
say "        $(grep -o '"output":"[^"]*' <<<"$taken" | sed 's/"output":"//; s/\\n/, /g')"
check 'each of them was refused more' grep -q \
  'watches [0-9]* 28\\ninstances [0-9]* 24\\nsignals [0-9]* 11\\nqueues 0 38\\nlocked [0-9]* 12\\npipes 300 0\\nprocesses [0-9]* 11' <<<"$taken"
check 'the daemon is the same process as before' test "$(property MainPID) $(property NRestarts)" = "$pid 0"
delete_all() {
  local session
  for session in $(errand sessions list | cut -f 1); do errand sessions delete --yes "$session" || return 1; done
  within 20 eval '! is_full'
}
check 'and can remove what the commands have left' delete_all
