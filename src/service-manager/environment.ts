// What systemd passes to the service that it starts: sockets, deadlines, and where its output goes.

/** A listening socket that systemd has opened. */
export interface PassedSocket {
  readonly fd: number;
  /** `FileDescriptorName=` of its unit; `unknown` by default. */
  readonly name: string;
}

/** What a service manager asks of this process. Without one, all of it is null or empty. */
export interface ServiceEnvironment {
  /** Where messages go. */
  readonly notifySocket: string | null;
  /** The search path for `systemd-notify`. */
  readonly searchPath: string | null;
  /** The longest time between two signs of life. */
  readonly watchdogMs: number | null;
  readonly sockets: readonly PassedSocket[];
  /** Device and inode of the journal's stream, as `8:1234`. */
  readonly journalStream: string | null;
}

/** The first descriptor after standard input, output and error. */
const FIRST_FD = 3;
/** More than any unit has; what is larger is a mistake. */
const MAX_SOCKETS = 64;

/** Reads the variables. Those that are meant for another process are ignored. */
export function readServiceEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): ServiceEnvironment {
  const text = (name: string) => environment[name] || null;
  const isOurs = (name: string) => text(name) === null || text(name) === String(pid);
  const microseconds = wholeNumber(text('WATCHDOG_USEC'));
  return {
    notifySocket: text('NOTIFY_SOCKET'),
    searchPath: text('PATH'),
    watchdogMs: microseconds > 0 && isOurs('WATCHDOG_PID') ? microseconds / 1_000 : null,
    // Unlike the watchdog's, this one must be there: children inherit the variables, but not the sockets.
    sockets: text('LISTEN_PID') === String(pid) ? readSockets(text('LISTEN_FDS'), text('LISTEN_FDNAMES')) : [],
    journalStream: text('JOURNAL_STREAM'),
  };
}

function readSockets(count: string | null, names: string | null): readonly PassedSocket[] {
  const length = Math.min(wholeNumber(count), MAX_SOCKETS);
  const named = names?.split(':') ?? [];
  return Array.from({ length }, (_, index) => ({ fd: FIRST_FD + index, name: named[index] || 'unknown' }));
}

function wholeNumber(text: string | null): number {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
