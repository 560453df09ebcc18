// The session of a turn: the one that it continues, a new one, or a fork where the one has gone on since (M2).
import type { ResponseEcho } from '../../domain/sessions/run.ts';
import type { Session, SessionSetup } from '../../domain/sessions/session.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { insertSession } from '../sessions/insert-session.ts';
import { openFork, type PlannedFork, planFork } from './fork-session.ts';
import type { PlannedStart } from './plan-start.ts';
import type { StartInput } from './start-run.ts';
import {
  findOpenSession,
  findReplayed,
  findReplayedFork,
  type OpenSession,
  type Replay,
  type Submission,
} from './submissions.ts';

/** What of a turn decides it. */
export interface PlacedTurn extends Submission {
  /** The run of its session that it follows: if that isn't the newest, the session is forked there. Null for the newest. */
  readonly afterRunSeq?: number | null;
  /** The title and the setup of a new session. */
  readonly title: string;
  readonly setup: SessionSetup;
  /** What its client says of the conversation: its name, and whether nobody comes back. */
  readonly conversation?: { readonly clientName: string | null; readonly isThrowAway: boolean };
  readonly response?: Pick<ResponseEcho, 'isStored'> | null;
  /** Null without a free slot. */
  readonly start: StartInput | null;
}

/** Where a turn belongs. */
export interface PlaceOfTurn {
  /** The session that it continues. */
  readonly continued: OpenSession | undefined;
  readonly fork: PlannedFork | undefined;
  /** That session, or the one that is forked: who answers. */
  readonly known: OpenSession | undefined;
}

type NoPlace = Replay | { readonly kind: 'session_gone' | 'unfinished' };

export const isPlace = (found: PlaceOfTurn | NoPlace): found is PlaceOfTurn => !('kind' in found);

const NEW: PlaceOfTurn = { continued: undefined, fork: undefined, known: undefined };
const NEWEST = 'SELECT seq FROM runs WHERE session_seq = ? ORDER BY seq DESC LIMIT 1';

/** Looks it up; a repeated request has its place already. */
export function* placeOfTurn(tx: Transaction, turn: PlacedTurn): Step<PlaceOfTurn | NoPlace> {
  const found = turn.sessionId === null ? undefined : yield* findOpenSession(tx, turn);
  const earlier = yield* findReplayed(tx, turn, found);
  if (earlier !== undefined) return earlier;
  if (found === undefined) return turn.sessionId === null ? NEW : { kind: 'session_gone' };
  const { afterRunSeq = null } = turn;
  const newest =
    afterRunSeq === null ? null : ((yield* tx.get<{ seq: number }>(NEWEST, found.session.seq))?.seq ?? null);
  const isNewest = afterRunSeq === newest;
  // By what is resent, a request that is repeated may have another place: what is known of it has changed.
  const mayHaveForked = !isNewest || (turn.conversation !== undefined && afterRunSeq !== null);
  const repeated = mayHaveForked ? yield* findReplayedFork(tx, turn, found) : undefined;
  if (repeated !== undefined) return repeated;
  if (isNewest) return { continued: found, fork: undefined, known: found };
  const fork = yield* planFork(tx, found.session, afterRunSeq);
  if (fork.kind !== 'planned') return { kind: fork.kind === 'unfinished' ? 'unfinished' : 'session_gone' };
  // Its files are laid out where it starts.
  return { continued: undefined, fork, known: { ...found, workspaceNode: turn.start?.node ?? null } };
}

/** Continues it, or opens it. `start`: null for a turn that waits. */
export function* sessionOf(
  tx: Transaction,
  turn: PlacedTurn,
  { continued, fork }: PlaceOfTurn,
  start: PlannedStart | null,
): Step<Session> {
  if (continued !== undefined) return yield* continueSession(tx, turn, continued, start);
  const { user, key, title, setup, conversation } = turn;
  const opened = {
    status: start === null ? 'pending' : 'running',
    workspaceNode: start?.workspaceNode ?? null,
    clientName: conversation?.clientName ?? null,
    isThrowAway: isThrownAway(turn),
  } as const;
  if (fork !== undefined) return yield* openFork(tx, fork, opened);
  const owned = { userSeq: user.seq, keySeq: key.seq, kind: 'api', projectId: key.projectId } as const;
  return yield* insertSession(tx, { ...owned, title, setup, ...opened });
}

/** Where the key says how its conversations are found, that decides: clients that keep them themselves say `store: false` each time. */
function isThrownAway({ conversation, response }: PlacedTurn): boolean {
  return conversation?.isThrowAway ?? response?.isStored === false;
}

function* continueSession(
  tx: Transaction,
  turn: PlacedTurn,
  open: OpenSession,
  start: PlannedStart | null,
): Step<Session> {
  const { session } = open;
  const status = session.status === 'running' || start !== null ? 'running' : 'pending';
  // A confirmed stop is cleared; one that the executor has yet to confirm holds the new run back.
  yield* tx.run(
    isStopping(open)
      ? 'UPDATE sessions SET status = ?, updated_at = ?, workspace_node = coalesce(?, workspace_node), throw_away = throw_away * ? WHERE seq = ?'
      : `UPDATE sessions SET status = ?, updated_at = ?, workspace_node = coalesce(?, workspace_node), throw_away = throw_away * ?, stop_requested_at = NULL,
           stop_confirmed_at = NULL, stop_cause = NULL WHERE seq = ?`,
    status,
    tx.now,
    start?.workspaceNode ?? null,
    // Whoever comes back to it wants it kept, but who says otherwise.
    Number(isThrownAway(turn)),
    session.seq,
  );
  return { ...session, status, updatedAt: tx.now };
}

/** Whether an executor may still be at work there that was told to stop. */
export function isStopping(open: OpenSession): boolean {
  return open.stopRequestedAt !== null && open.stopConfirmedAt === null;
}
