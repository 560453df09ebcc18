// The shell scripts that stand between daemon and command: outside the walls and inside them. They run in dash as in bash.

/**
 * Descriptors after the usual three. bwrap reports on the first. The next is never written to, and closes when the daemon
 * dies. The third is for `DROP_ROOT` alone. From the others bwrap reads what must stand in no list of processes, made
 * files, and the filter of system calls.
 */
export const FD = {
  status: 3,
  lifeline: 4,
  scratch: 5,
  arguments: 6,
  passwd: 7,
  group: 8,
  command: 9,
  filter: 10,
} as const;

/** Enters a control group before all else. $1 its folder, then the command to become. */
export const ENTER = `echo 0 >"$1/cgroup.procs" && shift && exec "$@"`;

/** Where root's rights end, folders that lie under a closed directory are found under this one, by their number. */
export const OPENED = '/tmp/opened';

/** Where a command's text lies in the sandbox. */
export const COMMAND_FILE = '/command';

/**
 * Runs as root in a mount namespace of its own. The workspace and other folders usually lie under a directory that is
 * closed to the sandbox's uid, so each is bound to a place that uid can reach before root's rights are dropped for good.
 * That place hides the host's /tmp, which stays within reach of this script alone, by its descriptor.
 * $1 uid, $2 gid, $3 how many folders, the folders, then the command to become.
 */
export const DROP_ROOT = `exec ${FD.scratch}</tmp && mount -t tmpfs -o size=64k,mode=0755 none /tmp && mkdir ${OPENED} &&
uid=$1 gid=$2 count=$3 at=0 && shift 3 &&
while test "$at" -lt "$count"; do
  case $1 in /tmp/*) from=/proc/self/fd/${FD.scratch}/\${1#/tmp/} ;; *) from=$1 ;; esac
  mkdir ${OPENED}/$at && mount -c --bind "$from" ${OPENED}/$at || exit 1
  at=$((at + 1)); shift
done &&
exec ${FD.scratch}<&- setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all --no-new-privs -- "$@"`;

/**
 * Runs as bwrap's parent, leader of a process group of its own, and is given the command to run. The daemon holds the
 * other end of the lifeline: when it dies, however early, the whole group is killed. bwrap's own --die-with-parent
 * begins too late for that: until then its first process outlives it and waits for ever. A bwrap that a signal ended may
 * have left such a process, so that the guard stays until the lifeline closes; one that reports to a daemon that has just
 * died is such. When the machine's memory runs out, all of them go before others; inside, where /proc is closed to writing,
 * nobody can take that back.
 */
export const GUARD = `echo 1000 >/proc/self/oom_score_adj
( read -r line <&${FD.lifeline}; kill -KILL 0 ) </dev/null >/dev/null 2>&1 ${[3, 5, 6, 7, 8, 9].map((fd) => `${fd}>&-`).join(' ')} & guard=$!
exec ${FD.lifeline}<&- ${FD.scratch}<&-
"$@"
code=$?
test "$code" -gt 128 && exit "$code"
kill -KILL "$guard"
wait "$guard" 2>/dev/null
exit "$code"`;

/** Closes descriptors that the daemon was itself started with; only bash can name those above 9. */
const CLOSE_OTHERS = (quietly: string) => `if test -n "$BASH_VERSION"; then
  for fd in /proc/self/fd/*; do fd=\${fd##*/}; test "$fd" -gt 2 && eval "exec $fd>&-"; done${quietly}
fi`;

/**
 * Runs inside, as the command's parent. $1 shell. Both output streams go through a pipe made here: scripts that open
 * /dev/stderr fail on the socket that the daemon reads from. What a background process still holds open is not waited for.
 */
export const PARENT = `${CLOSE_OTHERS(' 2>/dev/null')}
mkfifo /tmp/.output
cat </tmp/.output & pump=$!
exec 3>/tmp/.output; rm -f /tmp/.output
"$1" ${COMMAND_FILE} </dev/null >&3 2>&3 3>&-
code=$?
exec 3>&-
{ sleep 0.2; kill "$pump"; } >/dev/null 2>&1 &
wait "$pump" 2>/dev/null
exit "$code"`;

/**
 * Becomes the service. The loop's own errors are not put away: bash would keep the way back to standard error in a
 * descriptor that it closes.
 */
export const SERVICE = `${CLOSE_OTHERS('')}
exec "$@"`;
