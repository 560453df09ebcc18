// The interface to a database that is looked at from beside, whoever writes it meanwhile, on a connection that only reads.
import type { EngineFigures } from './database.ts';
import type { SchemaState } from './schema.ts';
import type { Reader, Step } from './statement.ts';

export interface FaultRequest {
  /** From this size on, a database is large. */
  readonly largeBytes: number;
  /** Whether a large one is searched for damage, too. */
  readonly full: boolean;
}

/** What a server says of itself and of the database. */
export interface ServerReport {
  /** What the role may use of max_connections, and what all clients use now. */
  readonly maxConnections: number;
  readonly usedConnections: number;
  /** Of its clock, before this machine's; negative when it is behind. */
  readonly clockAheadMs: number;
  readonly autovacuum: boolean;
  /** Whether pages have checksums, so that damage is noticed. */
  readonly hasChecksums: boolean;
  /** The client whose transaction is the oldest: until it ends, rows that were removed take space. Null when none is older than a second. */
  readonly oldestTransaction: { readonly pid: number; readonly who: string; readonly seconds: number } | null;
  /** Tables with most removed rows that still take space. */
  readonly deadRows: readonly { readonly table: string; readonly dead: number; readonly live: number }[];
}

export interface Inspector {
  schema(): Promise<SchemaState>;
  figures(): Promise<EngineFigures>;
  /** The tables of the schema, by name. */
  tables(): Promise<readonly string[]>;
  /** What the engine finds wrong; null when it was too large to examine. */
  faults(request: FaultRequest): Promise<readonly string[] | null>;
  /** Carries out a verb that only reads. */
  look<Result>(verb: (tx: Reader) => Step<Result>): Promise<Result>;
  /** Null without a server. */
  server(): Promise<ServerReport | null>;
  close(): Promise<void>;
}
