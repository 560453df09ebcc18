// What a storm is about: one daemon, or several that are one installation.
import type { Places } from '../../src/selftest/checks/stored-blobs.ts';
import type { Diary } from './storm/faults.ts';

/** Where clients and operators ask. */
export interface Asked {
  readonly url: string;
  /** Of scope `admin`. */
  readonly apiKey: string;
  /** Calls the management API and returns `data`; throws on any other status than 2xx. */
  admin(method: string, path: string, body?: object): Promise<unknown>;
}

export interface StormRequest {
  /** How many faults. */
  readonly kills: number;
  readonly seed: number;
  /** In the arguments of processes that belong to the subject. */
  readonly marker: string;
  report(kill: number): void;
}

/** A line of the report. */
export type Row = readonly [string, string | number];

export interface Storm {
  readonly diary: Diary;
  /** Milliseconds from spawn to ready, of each start. */
  readonly startsMs: readonly number[];
  /** What was wrong while it lasted, in words. */
  readonly problems: readonly string[];
  /** Processes that outlived their daemon. */
  readonly orphans: Set<number>;
  /** What came, for the report. */
  readonly rows: readonly Row[];
}

export interface Subject extends Asked {
  /** Where `errand.db` is, the SQLite file that checks read; `look` brings it up to date. */
  readonly dataDir: string;
  look(): Promise<void>;
  /** Lasts until all faults have come, and leaves every daemon running. */
  blow(request: StormRequest): Promise<Storm>;
  /** When all work has ended, and every daemon is running: what has still to be seen of them, in words. */
  calm(storm: Storm): Promise<readonly string[]>;
  /** Ends every daemon; answers what was wrong with that, and what outlived them. */
  stop(marker: string, known: Set<number>): Promise<readonly string[]>;
  /** What is wrong with what is left, beside what is checked of any subject. */
  checkLeft(diary: Diary): readonly string[];
  places(diary: Diary): Places;
  /** Ends everything at once. `isKept`: the files stay; answers where they are. */
  close(isKept: boolean): Promise<readonly string[]>;
  /** What daemons wrote, by name. */
  logs(): Readonly<Record<string, string>>;
}
