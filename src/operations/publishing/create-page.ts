// Makes pages: of a session, with the first version, or of a scheduled task (F1, F7).
import { ErrandError, notFound, unprocessable } from '../../domain/errors.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { VersionOutcome, Versions } from '../../publishing/versions.ts';
import type { Store } from '../../store/open-store.ts';
import { type NewPage as StoredPage, type Published, sessionGone } from '../../store/publishing/versions.ts';
import type { Access } from '../access.ts';
import type { Audit } from '../audit/audit.ts';

/** A page to make. Exactly one of the two ids is not null. */
export interface NewPage extends Omit<StoredPage, 'userSeq' | 'source'> {
  readonly sessionId: string | null;
  readonly scheduledTaskId: string | null;
}

export interface CreatePageParts {
  readonly store: Pick<Store, 'pages'>;
  readonly access: Pick<Access, 'session' | 'scheduledTask'>;
  readonly audit: Pick<Audit, 'change'>;
  readonly publishing: { readonly versions: Pick<Versions, 'publish'> };
}

/**
 * Makes a page, and returns its key. That of a session gets its first version at once; that of a scheduled task gets one after
 * each firing that completes. Throws `unprocessable` for an entry that can't be published, `conflict` for one page too many,
 * and `unavailable` while the files of the session's last run are not known.
 */
export function makeCreatePage({ store, access, audit, publishing: { versions } }: CreatePageParts) {
  async function createOfSession(caller: Caller, id: string, fields: PageFields): Promise<string> {
    const { seq: sessionSeq, userSeq } = await access.session(caller, id);
    const page = { ...fields, userSeq, source: { sessionSeq } };
    const note = audit.change(caller, 'page.create', ({ key }: Published) => ({ id: key, sessionId: id }));
    const source = { sessionSeq, entryPath: page.entryPath };
    const outcome = await versions.publish(source, { page, ...MANUAL, reason: null }, note);
    if (outcome.kind === 'session_gone') throw notFound('Session');
    return published(outcome).key;
  }

  async function createOfTask(caller: Caller, id: string, fields: PageFields): Promise<string> {
    const task = await access.scheduledTask(caller, id);
    const page = { ...fields, userSeq: task.userSeq, source: { scheduledTaskId: task.id } };
    const note = audit.change(caller, 'page.create', ({ key }: { readonly key: string }) => ({ id: key }));
    return (await store.pages.createPage(page, note)).key;
  }

  return async (caller: Caller, input: NewPage): Promise<string> => {
    const { sessionId, scheduledTaskId, ...fields } = input;
    if (sessionId !== null && scheduledTaskId === null) return createOfSession(caller, sessionId, fields);
    if (sessionId === null && scheduledTaskId !== null) return createOfTask(caller, scheduledTaskId, fields);
    throw unprocessable('session_id', 'exactly one of session_id and scheduled_task_id');
  };
}

type PageFields = Omit<StoredPage, 'userSeq' | 'source'>;

/** Of a version that someone asked for. */
export const MANUAL = { trigger: 'manual', jobId: null } as const;

/** What was published, or the refusal in words. */
export function published(outcome: VersionOutcome): Published {
  if (outcome.kind === 'published') return outcome;
  if (outcome.kind === 'refused') throw unprocessable('entry_path', outcome.mustBe);
  if (outcome.kind === 'session_gone') throw sessionGone();
  throw new ErrandError('unavailable', 'The files of the last run are still being collected. Try again soon.');
}
