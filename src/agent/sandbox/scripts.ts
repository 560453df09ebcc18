// The shell scripts between daemon and command: outside of the sandbox and inside it. They run in dash and in bash.

/**
 * Descriptors after the standard three. bwrap reports on the first. The next is never written to, and closes when the daemon
 * dies. The third is for `DROP_ROOT` only. From the others bwrap reads what must not appear in a process list, generated files,
 * and the system call filter.
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

/** Enters a control group before anything else. $1 its folder, then the command to execute. */
export const ENTER = `echo 0 >"$1/cgroup.procs" && shift && exec "$@"`;

/** Where a folder beneath a closed directory is available after root's privileges are dropped: the only one, or one of several. */
export const openedAt = (at: number, count: number): string => (count === 1 ? '/tmp' : `/tmp/${at}`);

/** Path of the command's text in the sandbox. */
export const COMMAND_FILE = '/command';

/**
 * Runs as root in a mount namespace of its own. The workspace and other folders are usually beneath a directory that the
 * sandbox's uid can't enter, so each is bound to a place that this uid can reach before root's privileges are dropped
 * permanently. That place hides the host's /tmp, which only this script can still reach, by its descriptor. $1 uid, $2 gid, $3
 * number of folders, the folders, then the command to execute. Each program that it calls takes a millisecond.
 */
export const DROP_ROOT = `uid=$1 gid=$2 count=$3 at=0 places= && shift 3 &&
if test "$count" = 1; then mount -c --bind "$1" /tmp && shift || exit 1
else
  exec ${FD.scratch}</tmp && mount -t tmpfs -o size=64k,mode=0755 none /tmp &&
  while test "$at" -lt "$count"; do places="$places /tmp/$at" at=$((at + 1)); done && mkdir $places && at=0 &&
  while test "$at" -lt "$count"; do
    case $1 in /tmp/*) from=/proc/self/fd/${FD.scratch}/\${1#/tmp/} ;; *) from=$1 ;; esac
    mount -c --bind "$from" /tmp/$at || exit 1
    at=$((at + 1)); shift
  done && exec ${FD.scratch}<&- || exit 1
fi
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all --no-new-privs -- "$@"`;

/**
 * Runs as bwrap's parent and leader of its own process group, and gets the command to run. The daemon holds the other end of
 * the lifeline: when it dies, however early, the whole group is killed. bwrap's own --die-with-parent takes effect too late for
 * that: before that, its first process outlives it and waits forever. A bwrap that a signal ended may have left such a process,
 * so the guard stays until the lifeline closes; this includes a bwrap that reports to a daemon that has just died. When the
 * machine's memory runs out, all of them are killed before others; inside, /proc is read-only, so that cannot be undone.
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

/**
 * Runs between the guard and bwrap, as root of a user namespace that surrounds the sandbox's own: what is counted there is counted
 * for this sandbox, and has a limit. Then the command to execute.
 */
export const COUNTS = `echo 16 >/proc/sys/user/max_inotify_instances && echo 8192 >/proc/sys/user/max_inotify_watches && exec "$@"`;

/** Closes inherited descriptors of the daemon; only bash can name those above 9. */
const CLOSE_OTHERS = (quietly: string) => `if test -n "$BASH_VERSION"; then
  for fd in /proc/self/fd/*; do fd=\${fd##*/}; test "$fd" -gt 2 && eval "exec $fd>&-"; done${quietly}
fi`;

/**
 * Runs inside, as the command's parent. $1 shell. Both output streams use a pipe created here: scripts that open /dev/stderr
 * fail on the socket that the daemon reads from. Does not wait for streams that a background process keeps open.
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
 * Becomes the service. The loop's own errors are not redirected: bash would save standard error in a descriptor that the loop
 * closes.
 */
export const SERVICE = `${CLOSE_OTHERS('')}
exec "$@"`;
