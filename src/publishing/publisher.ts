// The publisher: makes a version of each page of a task whose firing has completed, in up to three attempts (F12, F14).
import type { Clock } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { Store } from '../store/open-store.ts';
import type { PublishJob } from '../store/publishing/jobs.ts';
import type { VersionOutcome, Versions } from './versions.ts';

export interface PublisherParts {
  readonly store: Pick<Store, 'publishJobs'>;
  readonly versions: Pick<Versions, 'attempt'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Publisher extends Service {
  /** The files of a session may have become known: a job may have waited for that. */
  collected(sessionSeq: number): void;
}

const PAGE = 20;
/** Attempts are due by wall time: a jump of that clock is noticed within this time. */
const LOOK_MS = 60_000;

/** Makes the service. Wake it when a firing has completed. */
export function makePublisher({ store: { publishJobs }, versions, clock, log }: PublisherParts): Publisher {
  /** Sessions whose jobs wait for their files, and those of them that have changed. */
  const waiting = new Set<number>();
  const changed = new Set<number>();

  async function work(stopping: AbortSignal): Promise<number | null> {
    for (const session of changed) {
      await publishJobs.hasten(session);
      changed.delete(session);
    }
    for (;;) {
      const jobs = await publishJobs.listDue(clock.now(), PAGE);
      for (const job of jobs) {
        if (stopping.aborted) return null;
        await perform(job);
      }
      if (jobs.length === 0) break;
    }
    const nextAt = await publishJobs.nextAt();
    return nextAt === undefined ? null : Math.min(Math.max(nextAt - clock.now(), 1), LOOK_MS);
  }

  async function perform(job: PublishJob): Promise<void> {
    const facts = { publish_key: job.pageKey, job_id: job.id };
    // Before the attempt, which may find what was so before the files became known.
    const wasWaiting = waiting.has(job.sessionSeq);
    waiting.add(job.sessionSeq);
    const outcome = await attempt(job);
    if (outcome.kind !== 'uncollected' && !wasWaiting) waiting.delete(job.sessionSeq);
    if (outcome.kind === 'published') {
      log.info({ ...facts, version: outcome.no }, 'a version was published after a scheduled task');
    } else if (outcome.kind === 'uncollected') {
      await publishJobs.putOff(job.id);
    } else {
      const message = outcome.kind === 'refused' ? `entry_path: ${outcome.mustBe}.` : outcome.message;
      const next = await publishJobs.fail(job.id, message);
      if (next !== 'gone') log.warn({ ...facts, next, reason: message }, 'a version could not be published');
    }
  }

  type Attempt =
    | Exclude<VersionOutcome, { kind: 'session_gone' }>
    | { readonly kind: 'failed'; readonly message: string };

  /** Storage that refuses is no failure of the job: it is thrown, and retried. */
  async function attempt({ id, pageId, sessionSeq, entryPath }: PublishJob): Promise<Attempt> {
    const publication = { page: { id: pageId }, trigger: 'auto', reason: null, jobId: id } as const;
    try {
      const outcome = await versions.attempt({ sessionSeq, entryPath }, publication);
      return outcome.kind === 'session_gone' ? { kind: 'failed', message: 'Its session was deleted.' } : outcome;
    } catch (error) {
      if (!(error instanceof ErrandError) || error.reason === 'unavailable') throw error;
      return { kind: 'failed', message: error.message };
    }
  }

  const failure = 'versions of scheduled tasks could not be published';
  const service = makeService({ work, failure, maxRetryMs: LOOK_MS, clock, log });
  return {
    ...service,
    collected: (sessionSeq) => {
      if (!waiting.delete(sessionSeq)) return;
      changed.add(sessionSeq);
      service.wake();
    },
  };
}
