// Sessions, runs and the queue as the management interface tells them.
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { RunError, RunStatus } from '../../domain/run.ts';
import type { SessionStatus } from '../../domain/session.ts';
import type { StopState } from '../../domain/stop.ts';

/** A session of anybody. `confirmed_at` is null while an executor may still be at work. */
export interface SessionWire {
  readonly session_id: string;
  readonly title: string;
  readonly status: SessionStatus;
  readonly kind: string;
  readonly user_id: string;
  readonly username: string;
  readonly key_id: string | null;
  readonly project_id: string | null;
  readonly stop: {
    readonly termination_reason: string;
    readonly requested_at: string;
    readonly confirmed_at: string | null;
  } | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A session's history (§2.7). */
export interface HistoryWire {
  readonly session_id: string;
  readonly messages: readonly {
    readonly id: number;
    readonly role: string;
    readonly text_preview: string;
    readonly content: { readonly _type: string; readonly content: readonly JsonValue[] };
    readonly attachments: readonly JsonObject[];
  }[];
}

/** What a stop did (§2.11). */
export interface StopWire {
  readonly session_id: string;
  readonly status: SessionStatus;
  readonly stop_state: StopState;
  readonly termination_reason: string;
  readonly cancelled_runs: number;
  readonly expired_user_input_requests: number;
  readonly executor_cancelled: boolean;
}

/** What a delete did (§2.12). */
export interface DeletionWire {
  readonly id: string;
  readonly cleanup: { readonly scheduled: boolean };
}

/** A run of anybody. */
export interface RunWire {
  readonly run_id: string;
  readonly session_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly key_id: string;
  readonly status: RunStatus;
  /** It is `running`, without a worker: its user is asked. */
  readonly waiting_for_user: boolean;
  readonly protocol: string;
  readonly schedule_mode: string;
  readonly model: string | null;
  readonly attempt: number;
  readonly resumes: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly stop_reason: string | null;
  readonly error: RunError | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** A waiting run and why it waits. */
export interface QueueEntryWire {
  readonly run_id: string;
  readonly session_id: string;
  readonly username: string;
  readonly key_id: string;
  readonly schedule_mode: string;
  readonly reason: string;
  readonly behind_run_id: string | null;
  readonly waiting_ms: number;
  readonly created_at: string;
}

export interface QueueWire {
  readonly items: readonly QueueEntryWire[];
  readonly total: number;
  /** Runs that wait for their users, and hold no slot. */
  readonly waiting_for_user: number;
  /** False when the daemon has no workers or shuts down. */
  readonly claiming: boolean;
  readonly slots: number;
  readonly busy: number;
}

/** What to list of sessions. `user` is a name or an id, `key` a public id. */
export interface SessionQuery {
  readonly user?: string;
  readonly key?: string;
  readonly limit?: number;
}

/** What to list of runs. */
export interface RunQuery {
  readonly session?: string;
  readonly status?: RunStatus;
  readonly limit?: number;
}

/** A query's fields as a request writes them; empty when there are none. */
export function queryOf(fields: object): string {
  const given = Object.entries(fields as Readonly<Record<string, string | number | undefined>>);
  const pairs = given.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
