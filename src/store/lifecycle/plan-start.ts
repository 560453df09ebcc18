// Whether the run of a turn begins with its acceptance, and how.
import type { ApiKey, User } from '../../domain/people/user.ts';
import type { SessionSetup } from '../../domain/sessions/session.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { IS_AWAITED } from '../runs/run-states.ts';
import { freeOf, homeNode } from './left-runs.ts';
import type { ModelChoice, StartInput } from './start-run.ts';
import type { OpenSession } from './submissions.ts';

/** What of a turn decides it. `start` is null without a free slot, `background` without a run in the background. */
interface StartingTurn {
  readonly start: StartInput | null;
  readonly background: object | null;
  readonly user: Pick<User, 'seq'>;
  readonly key: Pick<ApiKey, 'seq'>;
  readonly setup: SessionSetup;
}

/** How a run begins. */
export interface PlannedStart {
  readonly choice: ModelChoice;
  readonly model: string | null;
  readonly leaseMs: number;
  readonly node: string;
  /** The node that has the files of the session. */
  readonly workspaceNode: string;
}

/** As they are now: the caller was looked up before. */
const startOf = (free: string) => `SELECT k.model AS "keyModel", u.scenario, u.disabled,
    EXISTS (SELECT 1 FROM runs WHERE status = 'queued' AND ready = 1 AND ${IS_AWAITED}${free}) AS waiting
  FROM users u JOIN api_keys k ON k.seq = ? WHERE u.seq = ?`;

interface StartRow extends Pick<ModelChoice, 'keyModel' | 'scenario'> {
  readonly disabled: number;
  readonly waiting: number;
}

/** Plans it. Null for a run that takes its place in the queue, which also stops one whose user was disabled a moment ago (C6). */
export function* planStart(
  tx: Transaction,
  turn: StartingTurn,
  open: OpenSession | undefined,
): Step<PlannedStart | null> {
  const { start, background, user, key, setup } = turn;
  if (start === null || background !== null) return null;
  const free = freeOf(tx.now, start);
  const { keyModel, scenario, ...row } = (yield* tx.get<StartRow>(
    startOf(free.sql),
    ...free.values,
    key.seq,
    user.seq,
  ))!;
  if (row.waiting === 1 || row.disabled === 1) return null;
  if (open !== undefined && (yield* isLeft(tx, open, start))) return null;
  const leadModel = open === undefined ? (setup.orchestration?.lead.model ?? null) : open.leadModel;
  const choice = { keyModel, scenario, target: targetOf(turn, open), leadModel };
  const { leaseMs, node } = start;
  const workspaceNode = open === undefined ? node : (open.workspaceNode ?? (yield* homeNode(tx)) ?? node);
  return { choice, model: start.modelFor(choice), leaseMs, node, workspaceNode };
}

/** Whether another node that starts runs has the files of the session. */
function* isLeft(tx: Transaction, { session, workspaceNode }: OpenSession, { leftTo }: StartInput): Step<boolean> {
  if (workspaceNode === null || leftTo?.nodes.includes(workspaceNode) !== true) return false;
  return (yield* tx.get(HAS_FILES, session.seq)) !== undefined;
}

const HAS_FILES = 'SELECT 1 FROM workspaces WHERE session_seq = ? AND file_count > 0';

/** Who answers. */
export function targetOf({ setup }: Pick<StartingTurn, 'setup'>, found: OpenSession | undefined): string {
  return found?.target ?? setup.target;
}
