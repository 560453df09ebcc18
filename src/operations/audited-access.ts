// How a thing is opened for reading: looked up, and the read recorded (G10).
import type { AuditAction } from '../domain/people/audit.ts';
import type { Caller } from '../domain/people/user.ts';
import type { Access } from './access.ts';
import type { Audit, AuditTarget, Owned } from './audit/audit.ts';

export interface AuditedAccessParts {
  readonly access: Pick<Access, keyof typeof LOOKS>;
  readonly audit: Pick<Audit, 'read'>;
}

/**
 * Opens what a verb is about to read, by the id that the caller gave. Each throws as its look-up of `Access` does, and as
 * `Audit.read` does.
 */
export type AuditedAccess = { readonly [N in keyof typeof LOOKS]: Access[N] } & {
  /** A run whose stream will be followed (C12). */
  readonly runToFollow: Access['run'];
};

/** What is opened: by which look-up, and as which read. */
const LOOKS = {
  session: 'session.read',
  run: 'run.read',
  question: 'question.read',
  insight: 'insight.read',
  scheduledTask: 'scheduled_task.read',
  page: 'page.read',
  share: 'share.read',
  webhook: 'webhook.read',
} as const satisfies Readonly<Partial<Record<keyof Access, AuditAction>>>;

export function makeAuditedAccess({ access, audit }: AuditedAccessParts): AuditedAccess {
  const opened =
    <Id, Thing extends Owned>(find: (caller: Caller, id: Id) => Promise<Thing>, action: AuditAction) =>
    async (caller: Caller, id: Id): Promise<Thing> => {
      const thing = await find(caller, id);
      await audit.read(caller, action, { ...targetOf(thing, id), ...ownerOf(thing) });
      return thing;
    };
  return {
    session: opened(access.session, LOOKS.session),
    run: opened(access.run, LOOKS.run),
    runToFollow: opened(access.run, 'run.follow'),
    question: opened(access.question, LOOKS.question),
    insight: opened(access.insight, LOOKS.insight),
    scheduledTask: opened(access.scheduledTask, LOOKS.scheduledTask),
    page: opened(access.page, LOOKS.page),
    share: opened(access.share, LOOKS.share),
    webhook: opened(access.webhook, LOOKS.webhook),
  };
}

/** By its own id where callers know it by that: they may have written it otherwise. */
function targetOf(thing: object, id: unknown): AuditTarget {
  const { id: own, sessionId } = thing as { readonly id?: unknown; readonly sessionId?: string };
  return { id: typeof own === 'string' ? own : String(id), ...(sessionId !== undefined && { sessionId }) };
}

function ownerOf(thing: Owned): Owned {
  return 'userId' in thing ? { userId: thing.userId } : { userSeq: thing.userSeq };
}
