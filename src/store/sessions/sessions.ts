// Rows of sessions, and the attachments of their turns.
import type { Attachment } from '../../domain/sessions/content.ts';
import { type CapabilityConfig, NO_CAPABILITIES } from '../../domain/capabilities/capability-config.ts';
import type { AgentPlan, Orchestration } from '../../domain/capabilities/orchestration.ts';
import type { Session, SessionSetup } from '../../domain/sessions/session.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { type SessionRow, toSession } from '../rows.ts';
import { fromNearerEnd } from './conditions.ts';

export interface AttachmentRow {
  id: string;
  message_id: number;
  name: string;
  path: string;
  workspace_path: string;
  mime_type: string;
  size: number;
  sha256: string;
}

export function toAttachment(row: AttachmentRow): Attachment {
  return {
    id: row.id,
    name: row.name,
    path: row.path,
    workspacePath: row.workspace_path,
    mimeType: row.mime_type,
    size: row.size,
    sha256: row.sha256,
  };
}

/** Defaults for what a plan stored by an earlier version lacks. */
const UNSAID = { connectors: [], subagents: [], browser: false } satisfies Partial<AgentPlan>;

function toOrchestration(json: string): Orchestration {
  const { lead, members, ...rest } = JSON.parse(json) as Orchestration;
  return { ...rest, lead: { ...UNSAID, ...lead }, members: members.map((one) => ({ ...UNSAID, ...one })) };
}

type SetupRow = Pick<SessionRow, 'user_seq' | 'target' | 'capability_config' | 'orchestration'> & {
  readonly workspace_removed_at: number | null;
};

/** What a session was given, whose it is, and when the files of its workspace were removed by age; null if never. */
export interface FoundSetup extends SessionSetup {
  readonly userSeq: number;
  readonly workspaceRemovedAt: number | null;
}

// The owner of a key never changes, so its sessions are that user's.
const OF_KEY = "FROM sessions WHERE key_seq = ? AND kind = 'api' AND deleted_at IS NULL";
const byChange = (order: 'ASC' | 'DESC') => `ORDER BY updated_at ${order}, created_at ${order}, seq ${order}`;

/** The verbs on sessions. */
export function makeSessions({ read }: Database) {
  return {
    /** The setup of a session, which never changes, and its owner. */
    getSetup: read(function* (tx: Reader, sessionSeq: number): Step<FoundSetup> {
      const row = (yield* tx.get<SetupRow>(
        'SELECT user_seq, target, capability_config, orchestration, workspace_removed_at FROM sessions WHERE seq = ?',
        sessionSeq,
      ))!;
      const config = JSON.parse(row.capability_config) as Partial<CapabilityConfig>;
      return {
        userSeq: row.user_seq,
        workspaceRemovedAt: row.workspace_removed_at,
        target: row.target,
        capabilityConfig: { ...NO_CAPABILITIES, ...config },
        orchestration: row.orchestration === null ? null : toOrchestration(row.orchestration),
      };
    }, 'written'),

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
      const items = yield* tx.all<SessionRow>(
        `SELECT * FROM sessions WHERE seq IN (SELECT seq ${OF_KEY} ${byChange(page.order)} LIMIT ? OFFSET ?) ${byChange('DESC')}`,
        keySeq,
        page.limit,
        page.offset,
      );
      return { items: items.map(toSession), total };
    }),

    /** A user's attachment by its API path, or undefined when there is none or its session is deleted. */
    findAttachment: read(function* (tx: Reader, userSeq: number, apiPath: string): Step<Attachment | undefined> {
      const row = yield* tx.get<AttachmentRow>(
        `SELECT a.* FROM attachments a JOIN messages m ON m.id = a.message_id JOIN sessions s ON s.seq = m.session_seq
         WHERE a.path = ? AND a.user_seq = ? AND s.deleted_at IS NULL LIMIT 1`,
        apiPath,
        userSeq,
      );
      return row === undefined ? undefined : toAttachment(row);
    }),
  };
}
