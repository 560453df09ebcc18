// The office as the terminal knows it: rows of runs, teams and counters. Shapes only; what changes them is beside.
import type { QueueWire } from '../../wire/sessions/queue.ts';
import type { BudgetWire } from '../../wire/people/budget.ts';
import type { EntityWire, SnapshotWire } from '../../client/office.ts';
import type { Flow } from './flow.ts';

export type RunStatus = EntityWire['status'];
export type Team = SnapshotWire['teams'][number];
export type Overview = SnapshotWire['overview'];

/** A run on the floor. Points in time are epoch milliseconds of the daemon's clock; `changedAt` is of this machine's. */
export interface Row {
  readonly runId: string;
  readonly sessionId: string;
  /** What this run was asked; empty until a snapshot has listed it. */
  readonly title: string;
  readonly sessionTitle: string;
  readonly username: string;
  readonly fullName: string;
  readonly teamId: string | null;
  readonly teamName: string | null;
  /** Where it executes; null before that is known. */
  readonly node: string | null;
  readonly status: RunStatus;
  /** The run is live and waits for its user. */
  readonly isWaiting: boolean;
  /** The model whose server is down, why, and since when the run waits for it. */
  readonly modelWait: { readonly model: string; readonly why: string; readonly since: number } | null;
  readonly progress: number;
  /** What the agent does now; null when the run is over. */
  readonly now: string | null;
  /** The last words of the text that it writes; null while it writes none. */
  readonly words: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Its last event, beside words. */
  readonly updatedAt: number;
  readonly tokens: number;
  readonly cost: number;
  readonly error: string | null;
  readonly firstSeenAt: number;
  readonly changedAt: number;
}

/** Everything known, replaced as a whole when it changes. */
export interface Office {
  readonly rows: ReadonlyMap<string, Row>;
  readonly teams: readonly Team[];
  readonly overview: Overview;
  /** Null until it was read, or where the credential may not; an older daemon has no `nodes`. */
  readonly queue:
    | (Pick<QueueWire, 'total' | 'slots' | 'busy' | 'waiting_for_user'> & Partial<Pick<QueueWire, 'nodes'>>)
    | null;
  /** The tightest budget of each team that has one, by its id. */
  readonly budgets: ReadonlyMap<string, BudgetWire>;
  /** Tokens of the last hour, by team id. */
  readonly flows: ReadonlyMap<string, Flow>;
  /** What to add to this machine's clock for the daemon's. */
  readonly skewMs: number;
  /** When the last snapshot came, by this machine's clock; null before the first. */
  readonly loadedAt: number | null;
  /** A run appeared of which only its ids are known: the next snapshot has the rest. */
  readonly hasUnknown: boolean;
  /** The last snapshot had no room for more runs. */
  readonly isFull: boolean;
  /** Events were missed: live rows that the next snapshot has no room for may be over. */
  readonly isStale: boolean;
}

/** Rows are kept up to here; the oldest that are over give way. */
export const MAX_ROWS = 500;
/** More live runs than that have no rows. */
export const MAX_LIVE_ROWS = 5000;

export const EMPTY_OFFICE: Office = {
  rows: new Map(),
  teams: [],
  budgets: new Map(),
  overview: {
    total: 0,
    running: 0,
    pending: 0,
    failed: 0,
    completed: 0,
    idle: 0,
    visible_conversations: 0,
    total_cost_usd: 0,
    total_tokens: 0,
  },
  queue: null,
  flows: new Map(),
  skewMs: 0,
  loadedAt: null,
  hasUnknown: false,
  isFull: false,
  isStale: false,
};

/** Whether a run has not ended. */
export function isLive({ status }: Pick<Row, 'status'>): boolean {
  return status === 'running' || status === 'pending';
}

/** Whether there is more than one node. */
export const hasNodes = ({ queue }: Pick<Office, 'queue'>): boolean =>
  queue?.nodes !== undefined && queue.nodes.online + queue.nodes.draining > 1;
