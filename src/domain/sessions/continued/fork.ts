// A fork: a session that begins with the conversation of another one, up to a run of it (M2).
import type { Session } from '../session.ts';

/** `as_of_run`: as that run has left it. `as_it_is`: as it was when the session was forked; what it was before is not known. */
export const FORKED_WORKSPACES = ['as_of_run', 'as_it_is'] as const;

/** What a session begins with. */
export interface Fork {
  /** The session that has the run: a fork at a run which another fork begins with is one of the first session. */
  readonly sessionId: string;
  /** The last run that it has of it. */
  readonly runId: string;
  readonly workspace: (typeof FORKED_WORKSPACES)[number];
}

export interface Forked {
  readonly kind: 'forked';
  readonly session: Session;
  readonly fork: Fork;
}

/** `unknown_run`: it isn't one of the conversation. `unfinished`: it, or one before it, has not ended. `no_run`: none has. */
export type ForkRefusal = 'unknown_run' | 'unfinished' | 'no_run' | 'scheduled';
