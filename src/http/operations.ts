// The verbs the HTTP room asks for, as types only: what the daemon must hand it.
import type { Message } from '../domain/content.ts';
import type { Run } from '../domain/run.ts';
import type { Caller, KeyCaller, Team } from '../domain/user.ts';
import type { KeyRecord, NewKey } from '../operations/keys.ts';
import type { NewTeam, TeamChange } from '../operations/teams.ts';
import type { AcceptedTurn, TurnInput } from '../operations/turn.ts';
import type { NewUser, UserChange, UserRecord, UserWithPassword } from '../operations/users.ts';

export interface Listing<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Every verb in use. References (`ref`) are an id or a name; each verb throws `not_found` for an unknown one.
 * The verbs of administration ask nobody: the guard of their routes has. */
export interface Operations {
  /** Throws `unauthenticated` or `forbidden`. */
  resolveCaller(credential: string | null, viaSocket: boolean): Promise<Caller>;
  acceptTurn(caller: KeyCaller, input: TurnInput): Promise<AcceptedTurn>;
  /** The terminal run. Throws `wait_timeout`, or `unavailable` when the daemon ends first; rejects when the signal fires. */
  awaitResult(run: Run, signal: AbortSignal): Promise<Run>;
  /** Throws `not_found` for an unknown run, `forbidden` for another key's. */
  findRunToFollow(caller: KeyCaller, runId: string): Promise<Run>;
  listMessages(
    caller: KeyCaller,
    sessionId: string,
  ): Promise<{ readonly sessionId: string; readonly messages: readonly Message[] }>;
  modelNameOf(caller: KeyCaller): string;

  listUsers(): Promise<Listing<UserRecord>>;
  getUser(ref: string): Promise<UserRecord>;
  createUser(input: NewUser): Promise<UserWithPassword>;
  changeUser(ref: string, change: UserChange): Promise<UserRecord>;
  setPassword(ref: string, password: string | null): Promise<UserWithPassword>;

  listTeams(): Promise<Listing<Team>>;
  createTeam(input: NewTeam): Promise<Team>;
  changeTeam(ref: string, change: TeamChange): Promise<Team>;

  listKeys(userRef: string | null): Promise<Listing<KeyRecord>>;
  getKey(id: string): Promise<KeyRecord>;
  /** `secret` is the whole key, shown this once. */
  createKey(input: NewKey): Promise<{ readonly key: KeyRecord; readonly secret: string }>;
  revokeKey(id: string): Promise<KeyRecord>;
}

export type PartState = 'ok' | 'degraded' | 'failed';

/** How one part of the daemon is doing. */
export interface PartReport {
  readonly name: string;
  readonly state: PartState;
  readonly detail: string | null;
}

export interface Readiness {
  readonly ready: boolean;
  readonly parts: readonly PartReport[];
}

/** What an operator sees of the running daemon. */
export interface StatusReport extends Readiness {
  readonly version: string;
  readonly nodeVersion: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly uptimeSeconds: number;
  readonly listen: string;
  readonly publicUrl: string;
  readonly dataDir: string;
  readonly configDir: string;
  readonly runs: { readonly queued: number; readonly running: number; readonly finalizing: number };
  readonly workers: { readonly threads: number; readonly slots: number; readonly busy: number };
  readonly models: readonly {
    readonly name: string;
    readonly endpoint: string;
    readonly kind: string;
    readonly default: boolean;
  }[];
}
