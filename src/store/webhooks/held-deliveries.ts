// Deliveries that report the end of a run wait a moment until it is known whether the run has left files (§6.5).
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { EventRow } from '../engine/journal/rows.ts';

/** How long, from the end of the run. What is not known by then counts as no files. */
export const HOLD_MS = 5_000;
/**
 * For so long after that, only a commit lets them go: what is due was let go, so its body may have been sent and never changes. When nobody
 * is left who lets them go, they are due by themselves.
 */
export const UNATTENDED_MS = 60_000;

/** The deliveries of one event, of a run whose workspace is still to be examined. */
export interface HeldEvent {
  readonly eventId: string;
  readonly sessionSeq: number;
  readonly runSeq: number;
  readonly until: number;
}

/** What became of some: which still wait, and the webhooks whose deliveries are due now. */
export interface Released {
  readonly left: readonly HeldEvent[];
  readonly webhookIds: ReadonlySet<number>;
}

// Files of other runs are in the session's export only (E4).
const SOUGHT = `SELECT 1 AS sought FROM runs r WHERE r.seq = ? AND r.artifact_status = 'pending'
  AND r.status IN ('completed', 'incomplete') AND NOT EXISTS (SELECT 1 FROM run_artifacts a WHERE a.run_seq = r.seq)`;
const FILES = 'SELECT 1 AS found FROM run_artifacts WHERE run_seq = ? AND file_count > 0';
// Those that aren't due: what may have been sent stays as it is. No text of a body matches, as quotes within texts are escaped.
const RELEASE = `UPDATE webhook_deliveries SET next_attempt_at = ?,
    body = CASE WHEN ? = 1 THEN replace(body, '"has_artifacts":false', '"has_artifacts":true') ELSE body END
  WHERE event_id = ? AND state = 'pending' AND attempt_count = 0 AND next_attempt_at > ? RETURNING webhook_id AS id`;

/** So many of what another process may have held are looked for where that was lost. */
const MOST_LEFT = 500;
const LEFT = `SELECT event_id, session_seq, body, created_at FROM webhook_deliveries
  WHERE state = 'pending' AND created_at > ? AND attempt_count = 0 AND is_test = 0 AND next_attempt_at > ?
    AND (event_type = 'session.completed' OR event_type = 'session.failed') ORDER BY created_at LIMIT ${MOST_LEFT}`;

interface LeftRow extends Pick<HeldEvent, 'eventId' | 'sessionSeq'> {
  readonly body: string;
  readonly createdAt: number;
}

/** Events that a process which is gone may have held: of their deliveries, none is due. */
export function* heldBefore(tx: Reader, now: number): Step<HeldEvent[]> {
  const events = new Map<string, HeldEvent>();
  const since = now - HOLD_MS - UNATTENDED_MS;
  for (const { eventId, sessionSeq, body, createdAt } of yield* tx.all<LeftRow>(LEFT, since, now)) {
    if (body === '' || events.has(eventId)) continue;
    const { run } = JSON.parse(body) as { readonly run: { readonly run_id: string } };
    const row = yield* tx.get<{ seq: number }>('SELECT seq FROM runs WHERE id = ?', run.run_id);
    if (row !== undefined) events.set(eventId, { eventId, sessionSeq, runSeq: row.seq, until: createdAt + HOLD_MS });
  }
  return [...events.values()];
}

/** Until when an event waits for the files of its run, epoch ms; undefined when it need not. */
export function* heldUntil(tx: Reader, event: EventRow, now: number): Step<number | undefined> {
  const until = event.createdAt + HOLD_MS;
  const isEnd = event.type === 'run.done' || event.type === 'run.failed';
  if (!isEnd || event.runSeq === null || until <= now) return undefined;
  return (yield* tx.get(SOUGHT, event.runSeq)) === undefined ? undefined : until;
}

/** Lets deliveries go whose files are known, or whose time is over, and says in their bodies whether there are any. */
export function* releaseIn(tx: Transaction, held: readonly HeldEvent[]): Step<Released> {
  const [left, webhookIds] = [[] as HeldEvent[], new Set<number>()];
  for (const event of held) {
    if (tx.now < event.until && (yield* tx.get(SOUGHT, event.runSeq)) !== undefined) {
      left.push(event);
      continue;
    }
    const hasFiles = (yield* tx.get(FILES, event.runSeq)) !== undefined;
    const rows = yield* tx.all<{ id: number }>(RELEASE, tx.now, Number(hasFiles), event.eventId, tx.now);
    for (const { id } of rows) webhookIds.add(id);
  }
  return { left, webhookIds };
}
