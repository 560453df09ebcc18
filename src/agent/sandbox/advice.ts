// What an operator can do when the sandbox can't be built.

/** What bubblewrap's complaints mean to an operator. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/unknown option/i, 'bubblewrap is too old; version 0.8 or newer is needed'],
  [
    /seccomp|system call filtering/i,
    'the kernel filters no system calls; it needs CONFIG_SECCOMP_FILTER, and a container must be allowed to add filters',
  ],
  [
    /(unshare|setpriv|mount|prlimit|nice).*(ENOENT|not found|No such file)/i,
    'util-linux or coreutils is incomplete (Debian: apt-get install util-linux mount coreutils)',
  ],
  [
    /creating new namespace failed|user namespace/i,
    'the kernel gives no user namespaces; raise user.max_user_namespaces (and kernel.unprivileged_userns_clone where it exists)',
  ],
  [
    /uid map|operation not permitted|permission denied/i,
    'the system forbids namespaces to this process; allow user namespaces for bwrap in AppArmor, or in the container run with fewer seccomp restrictions',
  ],
];

/** What an operator can do about a sandbox that could not be built, with the complaint itself. */
export function adviceOn(complaint: string): string {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(complaint))?.[1];
  return remedy === undefined ? complaint : `${remedy} (${complaint}).`;
}
