// A new session, inserted by the turn or the firing that opens it.
import { newId } from '../../domain/ids.ts';
import type { Session, SessionSetup } from '../../domain/sessions/session.ts';
import type { Step, Transaction } from '../engine/statement.ts';

export interface NewSession extends Pick<Session, 'userSeq' | 'keySeq' | 'kind' | 'title' | 'projectId'> {
  readonly setup: SessionSetup;
  /** What its client calls it. */
  readonly clientName?: string | null;
  /** Whether nobody comes back to it. */
  readonly isThrowAway?: boolean;
  /** That of its first run, which is inserted next. */
  readonly status: 'pending' | 'running';
  /** The node that starts it; null where it waits in the queue. */
  readonly workspaceNode: string | null;
}

export function* insertSession(
  tx: Transaction,
  { setup, workspaceNode, clientName = null, isThrowAway = false, ...given }: NewSession,
): Step<Session> {
  const times = { createdAt: tx.now, updatedAt: tx.now, deletedAt: null, originSession: null, originRun: null };
  const session: Omit<Session, 'seq'> = { ...given, ...times, id: newId(tx.now) };
  const seq = yield* tx.insert(
    `INSERT INTO sessions (id, user_seq, key_seq, kind, title, status, project_id, target, capability_config,
       orchestration, lead_model, created_at, updated_at, workspace_node, client_name, throw_away)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    session.id,
    session.userSeq,
    session.keySeq,
    session.kind,
    session.title,
    session.status,
    session.projectId,
    setup.target,
    JSON.stringify(setup.capabilityConfig),
    setup.orchestration === null ? null : JSON.stringify(setup.orchestration),
    setup.orchestration?.lead.model ?? null,
    session.createdAt,
    session.updatedAt,
    workspaceNode,
    clientName,
    Number(isThrowAway),
  );
  return { seq, ...session };
}
