// A session: a conversation with its workspace.

export const SESSION_STATUSES = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export type SessionKind = 'chat' | 'api' | 'scheduled';

/** A session as its readers see it (§2.6, E1). `seq` is the row's integer, used only inside. */
export interface Session {
  readonly seq: number;
  readonly id: string;
  readonly userSeq: number;
  readonly keySeq: number | null;
  readonly kind: SessionKind;
  readonly title: string;
  readonly status: SessionStatus;
  readonly projectId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
}
