// System calls that are forbidden in a sandbox, or restricted by argument: what Docker refuses a container by default,
// and what would lead out of this sandbox. Numbers are those of the kernel's headers, `asm/unistd_64.h` and
// `asm-generic/unistd.h`.
import { KB } from '../../domain/byte-units.ts';

/** The newest call of Linux 6.1. Later ones are unknown here and fail as on an older kernel. */
export const NEWEST_CALL = 450;

export const EPERM = 1;
export const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Numbers on x64 and on arm64; null where the call does not exist. */
type Numbers = readonly [x64: number, arm64: number | null];

/** The required value of an argument, counted from 0. All but `atMost` compare its lower 32 bits, as the kernel does there. */
export type Condition =
  | { readonly argument: number; readonly oneOf: readonly number[] }
  | { readonly argument: number; readonly atMost: number }
  | { readonly argument: number; readonly without: number };

export interface CallRule {
  readonly name: string;
  readonly numbers: Numbers;
  /** The call is allowed when all conditions of one entry hold; never when there is no entry. */
  readonly allowed: readonly (readonly Condition[])[];
  /** The error of a refused call. */
  readonly error: number;
}

const UNKNOWN: Readonly<Record<string, Numbers>> = {
  // The filter can't inspect its flags; C libraries fall back to clone.
  clone3: [435, 435],
  // Memory that belongs to no process, so that no limit would count it. Programs fall back to files in /dev/shm.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  msgget: [68, 186],
  mq_open: [240, 180],
};

/** Watches of files, which the kernel counts per user. */
const WATCHES: Readonly<Record<string, Numbers>> = {
  inotify_init: [253, null],
  inotify_init1: [294, 26],
};

const REFUSED: Readonly<Record<string, Numbers>> = {
  // Keys, which all sandboxes of a daemon share: their keyrings belong to its session and its user.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Parts of the kernel that are rarely needed and often vulnerable.
  bpf: [321, 280],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  // Access to other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Placement of memory.
  mbind: [237, 235],
  get_mempolicy: [239, 236],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  chroot: [161, 51],
  pivot_root: [155, 41],
  mount: [165, 40],
  umount2: [166, 39],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  move_mount: [429, 429],
  open_tree: [428, 428],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  // The machine.
  acct: [163, 89],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  settimeofday: [164, 170],
  create_module: [174, null],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  query_module: [178, null],
  get_kernel_syms: [177, null],
  ioperm: [173, null],
  iopl: [172, null],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  nfsservctl: [180, 42],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  swapon: [167, 224],
  swapoff: [168, 225],
  sysfs: [139, null],
  _sysctl: [156, null],
  syslog: [103, 116],
  uselib: [134, null],
  ustat: [136, null],
  vhangup: [153, 58],
};

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, NETLINK_ROUTE] = [1, 2, 10, 16, 0];
/** New namespaces of any type: mounts, control groups, host names, IPC, users, processes and network. */
const NEW_NAMESPACES = 0x7e020000;
/** What Docker allows: Linux, with or without a 16-bit view of the machine, a fixed layout, or only a query. */
const PERSONALITIES = [0, 0x8, 0x20000, 0x20008, 0xffffffff];
/** Segments and sets persist until the sandbox ends, outside of all processes. Their number is limited, to 4,096 and 32,000. */
const MAX_SEGMENT_BYTES = 16 * KB;
const MAX_SEMAPHORES = 32;

const LIMITED: readonly CallRule[] = [
  {
    name: 'socket',
    numbers: [41, 198],
    // Other families ignore the network namespace, or use modules that have not been reviewed for years.
    allowed: [
      [{ argument: 0, oneOf: [AF_UNIX, AF_INET, AF_INET6] }],
      [
        { argument: 0, oneOf: [AF_NETLINK] },
        { argument: 2, oneOf: [NETLINK_ROUTE] },
      ],
    ],
    error: EAFNOSUPPORT,
  },
  { name: 'socketpair', numbers: [53, 199], allowed: [[{ argument: 0, oneOf: [AF_UNIX] }]], error: EAFNOSUPPORT },
  { name: 'clone', numbers: [56, 220], allowed: [[{ argument: 0, without: NEW_NAMESPACES }]], error: EPERM },
  { name: 'personality', numbers: [135, 92], allowed: [[{ argument: 0, oneOf: PERSONALITIES }]], error: EPERM },
  { name: 'shmget', numbers: [29, 194], allowed: [[{ argument: 1, atMost: MAX_SEGMENT_BYTES }]], error: ENOSYS },
  { name: 'semget', numbers: [64, 190], allowed: [[{ argument: 1, atMost: MAX_SEMAPHORES }]], error: ENOSYS },
];

const never = (calls: Readonly<Record<string, Numbers>>, error: number): CallRule[] =>
  Object.entries(calls).map(([name, numbers]) => ({ name, numbers, allowed: [], error }));

/** Every call that is not unconditionally allowed. */
export const CALL_RULES: readonly CallRule[] = [...never(UNKNOWN, ENOSYS), ...never(REFUSED, EPERM), ...LIMITED];

/** Calls that are refused in addition where their number can't be limited. */
export const WATCH_RULES: readonly CallRule[] = never(WATCHES, ENOSYS);
