// What the program has of the outside world, handed in so that tests can be the outside world.
import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../../config/config.ts';
import type { Created, Daemon, initialize, renewMasterKey, startDaemon } from '../../daemon/daemon.ts';

export type { Created, Daemon };

/** The verbs of daemon.ts that `serve` and `init` need. */
export interface DaemonVerbs {
  readonly initialize: typeof initialize;
  readonly renewMasterKey: typeof renewMasterKey;
  readonly startDaemon: typeof startDaemon;
}

export type StopSignal = 'SIGINT' | 'SIGTERM';

/** The outside world of one command. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Which of the three are terminals. */
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Width of the terminal, in columns. */
  readonly columns: number;
  readonly environment: Environment;
  /** How this program is called from where the user stands, such as `errand` or `bin/errand`. */
  readonly commandName: string;
  /** Calls the listener on every SIGINT and SIGTERM until the answered function is called. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** Calls the listener on every SIGHUP until the answered function is called. Without one, SIGHUP ends the process. */
  onHangup(listener: () => void): () => void;
  /** Loads the daemon's code, which the other commands are quicker without. */
  loadDaemon(): Promise<DaemonVerbs>;
}
