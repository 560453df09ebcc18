// Forks a session: opens one that begins with its conversation, up to a run of it, and with its files (M2).
import { MB } from '../../domain/byte-units.ts';
import { ErrandError, notFound } from '../../domain/errors.ts';
import { overUserQuota } from '../../domain/people/user-quota.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { Fork, ForkRefusal } from '../../domain/sessions/continued/fork.ts';
import type { Session } from '../../domain/sessions/session.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Collector } from '../../execution/artifacts/collector.ts';
import type { Store } from '../../store/open-store.ts';
import type { ForkCommit } from '../../store/lifecycle/fork-session.ts';
import type { Access } from '../access.ts';
import type { Audit } from '../audit/audit.ts';

export interface ForkParts {
  readonly store: Pick<Store, 'sessions'>;
  readonly access: Pick<Access, 'session'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly collector: Pick<Collector, 'forked'>;
  settings(): Settings;
}

/** After which run; null: after the newest that has ended. */
export interface ForkRequest {
  readonly runId: string | null;
}

/** The fork. It belongs to the key of the session. */
export type ForkedSession = Session & Pick<Fork, 'workspace'>;

const refusal = (words: string) => () => new ErrandError('conflict', words);

const REFUSALS: Readonly<Record<ForkRefusal | 'gone', () => ErrandError>> = {
  gone: () => notFound('Session'),
  unknown_run: () => notFound('Run'),
  unfinished: refusal('The run has not ended: a session can be forked after a run that has.'),
  no_run: refusal('No run of the session has ended, so there is nothing to begin with.'),
  scheduled: refusal(
    'A session of a scheduled task belongs to no API key, so that nobody could go on in a fork of it.',
  ),
};

/**
 * Makes the verb. Throws as `Access.session` does; `not_found` for a run that isn't of the session's conversation; `conflict` where none has
 * ended; `too_large` when its owner is over the quota.
 */
export function makeForkSession({ store, access, audit, collector, settings }: ForkParts) {
  return async (caller: Caller, id: string, { runId }: ForkRequest): Promise<ForkedSession> => {
    const session = await access.session(caller, id);
    const quotaBytes = settings().workspace.userQuotaMb * MB;
    const note = audit.change(caller, 'session.fork', (commit: ForkCommit) =>
      commit.kind === 'forked' ? { id: session.id, sessionId: session.id } : undefined,
    );
    const point = { sessionSeq: session.seq, runId: runId?.toLowerCase() ?? null };
    const commit = await store.sessions.forkSession(point, quotaBytes, note);
    if (commit.kind === 'over_quota') throw overUserQuota(commit.usedBytes, quotaBytes);
    if (commit.kind !== 'forked') throw REFUSALS[commit.kind]();
    collector.forked(commit.session.seq);
    return { ...commit.session, workspace: commit.fork.workspace };
  };
}
