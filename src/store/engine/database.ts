// The interface to the engine that keeps the rows: what the verbs of the store need of it.
import type { JournalEvent } from '../../domain/sessions/journal-event.ts';
import type { MigrationStep } from './schema.ts';
import type { Reader, Step, Transaction } from './statement.ts';

/**
 * A verb as callers of the store call it. Made once, with the store: creating a generator function costs as much as a query,
 * and its garbage survives the next collection.
 */
export type Verb<Args extends readonly unknown[], Result> = (...args: Args) => Promise<Result>;

/**
 * What a result waits for. `durable`: its rows survive a power failure. `committed`: others see them; for work that reports nothing,
 * and that is worth nothing if the power fails at that moment.
 */
export type Durability = 'durable' | 'committed';

/**
 * The sessions whose rows a call reads before it writes; none when it opens one. Calls for different sessions may be carried out side by
 * side. `all`: it rests on other rows as well, so nothing else is carried out meanwhile.
 */
export type Scope = readonly number[] | 'all';

/** What a verb that writes is allowed, waits for, and rests on. */
export interface WriteOptions<First = unknown> {
  /** It frees space, or ends what uses more: it is carried out where there is no space for others. */
  readonly frees?: boolean;
  /** `durable` unless given. */
  readonly waitsFor?: Durability;
  /** Of a call, by its first argument; `all` unless given. */
  scope?(first: First): Scope;
}

/** Of a verb whose calls share what they cost. */
export interface SharedOptions<Item> {
  sizeOf?(item: Item): number;
  scope?(item: Item): Scope;
}

/** Of a verb that frees space. */
export const FREES: WriteOptions = { frees: true };
/** Of a verb that doesn't wait until its rows are durable. */
export const COMMITTED: WriteOptions = { waitsFor: 'committed' };

/** Learns how long each commit took, and of those that the storage refused, or that took more than one try. */
export interface CommitWatch {
  committed(tookMs: number): void;
  refused(): void;
  /** A transaction is carried out once more: another one was in its way, or the connection was lost. */
  repeated(): void;
}

/** What a store reports to its opener. Messages may name files, and are for the log. */
export interface StoreAlarms {
  /** A step of a migration begins, which blocks the event loop. */
  migrating(step: MigrationStep): void;
  /** The storage began to refuse writes, or is damaged. */
  trouble(words: string): void;
  /** The storage works, but something burdens it that grows. */
  burdened(words: string): void;
  /** What was written may not be durable. Nothing more is written: only a restart can determine what is there. */
  lost(error: unknown): void;
}

export const NO_ALARMS: StoreAlarms = {
  migrating: () => undefined,
  trouble: () => undefined,
  burdened: () => undefined,
  lost: () => undefined,
};

/** The connections to a server. */
export interface PoolFigures {
  /** How many there may be, and how many there are. */
  readonly most: number;
  readonly open: number;
  readonly busy: number;
  /** Verbs that wait for one. */
  readonly waiting: number;
}

/** A standby of the server, and how far it is behind. */
export interface Replica {
  readonly name: string;
  readonly state: string;
  readonly lagBytes: number;
}

/** How the engine is doing, for operators and metrics. */
export interface EngineFigures {
  readonly engine: 'sqlite' | 'postgres';
  readonly version: string;
  readonly bytes: number;
  readonly pageBytes: number;
  /** Of space without rows, as far as it is known. */
  readonly freeBytes: number;
  /** Whether that is given back while the daemon runs. */
  readonly shrinks: boolean;
  /** Of the write-ahead log that stands beside the database; null without. */
  readonly logBytes: number | null;
  /** Null without a server. */
  readonly pool: PoolFigures | null;
  /** As far as they can be seen. */
  readonly replicas: readonly Replica[];
}

/** How much one commit may give back: so much now, until that is nothing. */
export interface SpaceBatch {
  room(): number;
}

/** How much it was, and whether there may be more. */
export interface SpaceGiven {
  readonly rows: number;
  readonly more: boolean;
}

/** The other processes that write to the database. */
export interface Peers {
  /**
   * From now on nothing of this process is committed unless the row of a node has it; or, from now on, anything again. A process whose row
   * another one took has lost all that it had in progress: its storage is lost (`StoreAlarms`).
   */
  fence(isOn: boolean): void;
  /** Tells them something, after what was committed before. Each hears it once, or not at all. */
  tell(words: string): void;
  /** Calls the listener with what another one tells; with null, when something may have been missed. */
  onTold(listener: (words: string | null) => void): void;
  /**
   * Does work that only one process does at a time, by name; a process that is lost ends its own. Rejects with `unavailable` when another
   * one has not ended in time. For what isn't rows: these are changed in turns anyway.
   */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** How a process shares a database with others. */
export interface Sharing {
  /** Names it among them, in the row of its node as well. */
  readonly process: string;
  /** Learns the database's time with each transaction, epoch milliseconds. */
  follow(now: number): void;
}

/** The interface (design: only `Database` and `BlobStore` may have a second implementation). */
export interface Database {
  /**
   * Makes a verb from a generator. A call rejects, without affecting other verbs, when the generator throws, and with `unavailable` when
   * the storage refuses, or is locked for too long. The generator may be run twice: only its transaction may have effects.
   */
  write<Args extends readonly unknown[], Result>(
    verb: (tx: Transaction, ...args: Args) => Step<Result>,
    options?: WriteOptions<NoInfer<Args[0]>>,
  ): Verb<Args, Result>;
  /**
   * Makes a verb whose calls share what they cost: the generator gets those that come one after another, with no other verb between
   * them, and returns their results in order. When it throws, all of them reject. `sizeOf` tells how much work an item is, in characters;
   * the engine limits how much shares one call. `scope` is that of an item.
   */
  writeAll<Item, Result>(
    verb: (tx: Transaction, items: readonly Item[]) => Step<readonly Result[]>,
    options?: SharedOptions<Item>,
  ): Verb<[item: Item], Result>;
  /**
   * Makes a verb that only reads one snapshot of the rows: of those that are durable, for which it waits if need be, or of all that are
   * committed. Rejects with `unavailable` when the storage refuses.
   */
  read<Args extends readonly unknown[], Result>(
    verb: (tx: Reader, ...args: Args) => Step<Result>,
    waitsFor?: Durability,
  ): Verb<Args, Result>;
  /** Null where this process is the only one. */
  readonly peers: Peers | null;
  /** Resolves when the engine has carried out a request that changes nothing; rejects when it refuses it. */
  answered(): Promise<void>;
  /** Resolves when all that was committed is durable. Rejects with `unavailable` when the storage refuses. */
  durable(): Promise<void>;
  /** What is wrong with the storage, in a message without paths; null once a commit has succeeded again. */
  fault(): string | null;
  /** What burdens storage that works, in a message without paths; null without. */
  burden(): string | null;
  figures(): Promise<EngineFigures>;
  /** Gives space without rows back to the disk, where the engine doesn't by itself. */
  giveBack(batch: SpaceBatch): Promise<SpaceGiven>;
  /** Called after each commit with its events, in order. */
  onCommitted(listener: (events: readonly JournalEvent[]) => void): void;
  /** Has every commit from now on reported to the watch. */
  watchCommits(watch: CommitWatch): void;
  close(): Promise<void>;
}
