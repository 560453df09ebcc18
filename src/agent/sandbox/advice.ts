// What an operator can do when the sandbox can't be built.
import { readFileSync } from 'node:fs';

/** What an error of bubblewrap means to an operator. */
interface Remedy {
  readonly complaint: RegExp;
  readonly advice: string;
  /** Where the daemon itself runs under a filter. */
  readonly filtered?: string;
  /** One command of root's that ends the cause, where there is one. */
  readonly mend?: (machine: Machine) => string | null;
}

/** What of the machine decides between causes of one error. */
export interface Machine {
  /** Whether the kernel filters the system calls of this process, as in a unit with SystemCallFilter=. */
  readonly isFiltered: boolean;
  /** A setting of the kernel, such as `user.max_user_namespaces`; null where there is none. */
  setting(name: string): number | null;
}

export interface Advice {
  /** A sentence, with the error itself. */
  readonly why: string;
  /** One command of root's; null where no single one helps. It takes effect when the daemon is started again. */
  readonly mend: string | null;
}

/** What bubblewrap needs of util-linux and coreutils. */
const PROGRAMS = 'apt-get install -y util-linux mount coreutils';
const NEWEST = 'apt-get update && apt-get install -y bubblewrap';
/** A drop-in, which later versions of the unit leave in place. */
const WITHOUT_ITS_FILTER =
  "mkdir -p /etc/systemd/system/errand.service.d && printf '[Service]\\nRestrictSUIDSGID=no\\n' >/etc/systemd/system/errand.service.d/sandbox.conf && systemctl daemon-reload";
/** As Ubuntu documents it: namespaces for bubblewrap alone. */
const PROFILE =
  "printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n' >/etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap";

/** The setting of the kernel that forbids namespaces, set otherwise now and for later starts; null when none of them does. */
function openNamespaces({ setting }: Machine): string | null {
  if (setting('kernel.apparmor_restrict_unprivileged_userns') === 1) return PROFILE;
  const closed = (['user.max_user_namespaces', 'kernel.unprivileged_userns_clone'] as const).find(
    (name) => setting(name) === 0,
  );
  if (closed === undefined) return null;
  const line = `${closed}=${closed === 'user.max_user_namespaces' ? 15_000 : 1}`;
  return `echo ${line} >/etc/sysctl.d/90-errand.conf && sysctl -w ${line}`;
}

const REMEDIES: readonly Remedy[] = [
  {
    complaint: /unknown option/i,
    advice: 'bubblewrap is too old; version 0.8 or newer is needed',
    mend: () => NEWEST,
  },
  {
    complaint: /seccomp|system call filtering/i,
    advice:
      'the kernel filters no system calls; it needs CONFIG_SECCOMP_FILTER, and a container must be allowed to add filters',
  },
  {
    complaint: /function not implemented/i,
    advice: 'the kernel lacks a system call that bubblewrap needs, such as openat2 of Linux 5.6',
    filtered:
      'a filter of system calls hides openat2 from bubblewrap 0.12; under systemd the unit must not have RestrictSUIDSGID=yes, in a container choose another seccomp profile',
    mend: ({ isFiltered }) => (isFiltered ? WITHOUT_ITS_FILTER : null),
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
    mend: () => PROGRAMS,
  },
  {
    complaint: /creating new namespace failed|user namespace/i,
    advice:
      'the kernel provides no user namespaces; raise user.max_user_namespaces (and kernel.unprivileged_userns_clone where it exists)',
    filtered:
      'no user namespaces are available; under systemd the unit must have no RestrictNamespaces=, in a container the seccomp profile must allow them, and user.max_user_namespaces must not be 0',
    mend: openNamespaces,
  },
  {
    complaint: /uid map|operation not permitted|permission denied/i,
    advice:
      'the system forbids namespaces to this process; allow user namespaces for bwrap in AppArmor, or in the container run with fewer seccomp restrictions',
    filtered:
      'the daemon is under a filter of system calls that forbids what the sandbox needs; under systemd compare SystemCallFilter= with the unit that comes with Errand, in a container choose another seccomp profile, or allow user namespaces for bwrap in AppArmor',
    mend: openNamespaces,
  },
];

/** What an operator can do about a sandbox that could not be built. */
export function adviceOn(complaint: string, machine: Machine = thisMachine): Advice {
  const remedy = REMEDIES.find((candidate) => candidate.complaint.test(complaint));
  if (remedy === undefined) return { why: complaint, mend: null };
  const advice = machine.isFiltered ? (remedy.filtered ?? remedy.advice) : remedy.advice;
  return { why: `${advice} (${complaint}).`, mend: remedy.mend?.(machine) ?? null };
}

const thisMachine: Machine = {
  get isFiltered() {
    return /^Seccomp:\s*2$/m.test(textOf('/proc/self/status') ?? '');
  },
  setting: (name) => {
    const text = textOf(`/proc/sys/${name.replaceAll('.', '/')}`);
    return text === null ? null : Number(text);
  },
};

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
