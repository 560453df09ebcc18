// The outside world as the program sees it, passed in so that tests can replace it.
import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../../config/environment.ts';
import type { Created, Daemon, initialize, renewMasterKey, startDaemon } from '../../daemon/daemon.ts';

export type { Created, Daemon };

/** The functions of daemon.ts that `serve` and `init` use. */
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
  /** The current time, epoch ms. */
  now(): number;
  readonly environment: Environment;
  /** How to call this program from the user's directory, such as `errand` or `bin/errand`. */
  readonly commandName: string;
  /** Absolute path of this program: that of its launcher, or of the single file. */
  readonly executable: string;
  /** Calls the listener on every SIGINT and SIGTERM until the returned function is called. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
  /** Calls the listener on every SIGHUP until the returned function is called. Without a listener, SIGHUP ends the process. */
  onHangup(listener: () => void): () => void;
  /** Loads the code of the daemon of a data directory; other commands start faster without it. */
  loadDaemon(dataDir: string): Promise<DaemonVerbs>;
}
