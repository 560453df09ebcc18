// A session: a conversation with its workspace.
import type { CapabilityConfig } from '../capabilities/capability-config.ts';
import type { Orchestration } from '../capabilities/orchestration.ts';

export const SESSION_STATUSES = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const SESSION_KINDS = ['chat', 'api', 'scheduled'] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

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
  /** Of a fork: the session that it begins with, and the last run that it has of it (M2). */
  readonly originSession: string | null;
  readonly originRun: string | null;
}

/** Who answers in a session and what its agents may use: fixed when it is opened (§2.10). */
export interface SessionSetup {
  /** `free`, `expert:NAME` or `team:NAME`. */
  readonly target: string;
  readonly capabilityConfig: CapabilityConfig;
  /** Present exactly when the target is a team that existed at the opening. */
  readonly orchestration: Orchestration | null;
}
