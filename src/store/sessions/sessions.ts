// Rows of sessions, and the attachments of their turns.
import type { Attachment } from '../../domain/sessions/content.ts';
import { type CapabilityConfig, NO_CAPABILITIES } from '../../domain/capabilities/capability-config.ts';
import type { AgentPlan, Orchestration } from '../../domain/capabilities/orchestration.ts';
import type { Session, SessionSetup } from '../../domain/sessions/session.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { json, plain, rowKind } from '../engine/row.ts';
import { lastHeld } from '../forks/origins.ts';
import { SESSION } from '../rows.ts';
import { fromNearerEnd } from '../engine/lists.ts';

export const ATTACHMENT = rowKind<Attachment>({
  id: plain,
  name: plain,
  path: plain,
  workspacePath: plain,
  mimeType: plain,
  size: plain,
  sha256: plain,
});

/** Defaults for what a plan stored by an earlier version lacks. */
const UNSAID = { connectors: [], subagents: [], browser: false } satisfies Partial<AgentPlan>;

function toOrchestration(text: string | null): Orchestration | null {
  if (text === null) return null;
  const { lead, members, ...rest } = JSON.parse(text) as Orchestration;
  return { ...rest, lead: { ...UNSAID, ...lead }, members: members.map((one) => ({ ...UNSAID, ...one })) };
}

/** What a session was given, whose it is, and when the files of its workspace were removed by age; null if never. */
export interface FoundSetup extends SessionSetup {
  readonly userSeq: number;
  readonly workspaceRemovedAt: number | null;
}

const SETUP = rowKind<FoundSetup>({
  userSeq: plain,
  workspaceRemovedAt: plain,
  target: plain,
  capabilityConfig: (text: string) => ({ ...NO_CAPABILITIES, ...json<Partial<CapabilityConfig>>(text) }),
  orchestration: toOrchestration,
});

// The owner of a key never changes, so its sessions are that user's.
const OF_KEY = "FROM sessions WHERE key_seq = ? AND kind = 'api' AND deleted_at IS NULL";
const byChange = (order: 'ASC' | 'DESC') => `ORDER BY updated_at ${order}, created_at ${order}, seq ${order}`;

/** The verbs on sessions. */
export function makeSessions({ read }: Database) {
  return {
    /** The setup of a session, which never changes, and its owner. */
    getSetup: read(function* (tx: Reader, sessionSeq: number): Step<FoundSetup> {
      return (yield* tx
        .rows(SETUP)
        .get(
          'SELECT user_seq, target, capability_config, orchestration, workspace_removed_at FROM sessions WHERE seq = ?',
          sessionSeq,
        ))!;
    }, 'committed'),

    /**
     * A page of a key's API sessions, the last changed first, and their total number (§4.6). The rows before the page are counted in
     * the index: at most 1.5 ms with 100,000 sessions.
     */
    listOfKey: read(function* (
      tx: Reader,
      keySeq: number,
      limit: number,
      offset: number,
    ): Step<{ items: Session[]; total: number }> {
      const { total } = (yield* tx.get<{ total: number }>(
        'SELECT listed_sessions AS total FROM api_keys WHERE seq = ?',
        keySeq,
      ))!;
      // The page is found in the index; only its own rows are read.
      const page = fromNearerEnd({ limit, offset }, total);
      const items = yield* tx
        .rows(SESSION)
        .all(
          `SELECT * FROM sessions WHERE seq IN (SELECT seq ${OF_KEY} ${byChange(page.order)} LIMIT ? OFFSET ?) ${byChange('DESC')}`,
          keySeq,
          page.limit,
          page.offset,
        );
      return { items, total };
    }),

    /** A user's attachment by its API path, or undefined when there is none, or its session is deleted and no fork has it. */
    findAttachment: read(function* (tx: Reader, userSeq: number, apiPath: string): Step<Attachment | undefined> {
      return yield* tx.rows(ATTACHMENT).get(
        `SELECT a.* FROM attachments a JOIN messages m ON m.id = a.message_id JOIN sessions s ON s.seq = m.session_seq
         WHERE a.path = ? AND a.user_seq = ? AND (s.deleted_at IS NULL OR m.run_seq <= ${lastHeld('s.seq')}) LIMIT 1`,
        apiPath,
        userSeq,
      );
    }),
  };
}
