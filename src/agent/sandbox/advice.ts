// What an operator can do when the sandbox can't be built.
import { readFileSync } from 'node:fs';

/** What an error of bubblewrap means to an operator; `filtered` where the daemon itself runs under a filter. */
interface Remedy {
  readonly complaint: RegExp;
  readonly advice: string;
  readonly filtered?: string;
}

const REMEDIES: readonly Remedy[] = [
  { complaint: /unknown option/i, advice: 'bubblewrap is too old; version 0.8 or newer is needed' },
  {
    complaint: /seccomp|system call filtering/i,
    advice:
      'the kernel filters no system calls; it needs CONFIG_SECCOMP_FILTER, and a container must be allowed to add filters',
  },
  {
    complaint: /set hostname/i,
    advice:
      'a filter of system calls forbids sethostname; under systemd the SystemCallFilter= of the unit must name it next to @mount, as the unit that comes with Errand does',
  },
  {
    complaint: /max_user_namespaces.*read-only/i,
    advice: '/proc/sys is read-only, as in most containers; bubblewrap has to write /proc/sys/user/max_user_namespaces',
  },
  {
    complaint: /(unshare|setpriv|mount|prlimit|nice).*(ENOENT|not found|No such file)/i,
    advice: 'util-linux or coreutils is incomplete (Debian: apt-get install util-linux mount coreutils)',
  },
  {
    complaint: /creating new namespace failed|user namespace/i,
    advice:
      'the kernel provides no user namespaces; raise user.max_user_namespaces (and kernel.unprivileged_userns_clone where it exists)',
    filtered:
      'no user namespaces are available; under systemd the unit must have no RestrictNamespaces=, in a container the seccomp profile must allow them, and user.max_user_namespaces must not be 0',
  },
  {
    complaint: /uid map|operation not permitted|permission denied/i,
    advice:
      'the system forbids namespaces to this process; allow user namespaces for bwrap in AppArmor, or in the container run with fewer seccomp restrictions',
    filtered:
      'the daemon is under a filter of system calls that forbids what the sandbox needs; under systemd compare SystemCallFilter= with the unit that comes with Errand, in a container choose another seccomp profile, or allow user namespaces for bwrap in AppArmor',
  },
];

/** What an operator can do about a sandbox that could not be built, with the error itself. */
export function adviceOn(complaint: string, isFiltered = isUnderFilter()): string {
  const remedy = REMEDIES.find((candidate) => candidate.complaint.test(complaint));
  if (remedy === undefined) return complaint;
  const advice = isFiltered ? (remedy.filtered ?? remedy.advice) : remedy.advice;
  return `${advice} (${complaint}).`;
}

/** Whether the kernel filters the system calls of this process, as in a unit with SystemCallFilter=. */
function isUnderFilter(): boolean {
  try {
    return /^Seccomp:\s*2$/m.test(readFileSync('/proc/self/status', 'utf8'));
  } catch {
    return false;
  }
}
