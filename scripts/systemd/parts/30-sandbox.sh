# An agent's command runs behind the walls, under all the hardening of the unit.
outcome_of() { # a command of the shell; what it wrote, as its agent has it
  local run
  run=$(errand chat "[[shell=$1]]" -o json 2>>/srv/log | sed -n 's/^  "run_id": "\(.*\)".*/\1/p')
  errand runs tail "$run" -o json | grep '"type":"tool_result"' | tee -a /srv/log
}
outcome_has() { outcome_of "$1" | grep -q "$2"; }
check 'an agent runs a command behind the walls' outcome_has \
  'hostname; test ! -e /var/lib/errand && test ! -e /run/systemd && test -z "$NOTIFY_SOCKET$LISTEN_FDS" && echo walled' \
  '"ok":true.*sandbox.*walled'
check 'it has none of the sockets of the daemon' outcome_has \
  'ls -l /proc/self/fd | grep -c socket: ; echo counted' '"ok":true,"output":"0\\ncounted'
check 'a command whose processes take too much memory together is ended' outcome_has \
  'for i in 1 2 3; do head -c 700m /dev/zero | tail >/dev/null & done; wait; echo survived' 'it used too much memory'
check 'and the daemon is not' test "$(property NRestarts)" = 0
check 'the socket of systemd is closed in children' \
  eval 'grep "^flags:" /proc/$(property MainPID)/fdinfo/3 | grep "2[0-7]\{6\}$"'
