// Webhooks for tests.
import type { RenderBody } from '../../../src/domain/webhooks/event-facts.ts';
import type { NewWebhook } from '../../../src/store/webhooks/webhooks.ts';

/** A webhook of the installation for every end of a run. */
export function aWebhook(over: Partial<NewWebhook> = {}): NewWebhook {
  return {
    userSeq: null,
    name: 'Ledger',
    url: 'https://ledger.example/hook',
    events: ['session.completed', 'session.failed', 'session.stopped'],
    projectId: null,
    sessionKinds: null,
    timeoutMs: 10_000,
    retryCount: 7,
    retryBackoffMs: 5_000,
    enabled: true,
    sealSecret: null,
    ...over,
  };
}

/** A body that says what it is of, and for whom. */
export const renderId: RenderBody = ({ eventId, session, subject }, { id, ownerScope }) =>
  JSON.stringify({ eventId, sessionId: session.id, title: session.title, type: subject.type, webhook: id, ownerScope });
