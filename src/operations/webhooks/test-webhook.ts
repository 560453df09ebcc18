// A test delivery: the real filters, the real body, one attempt (§6.6, H5, H10).
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Caller } from '../../domain/people/user.ts';
import type { SessionKind } from '../../domain/sessions/session.ts';
import type { AttemptResult } from '../../domain/webhooks/delivery.ts';
import type { EventFacts } from '../../domain/webhooks/event-facts.ts';
import { type FilteredReason, filteredReason } from '../../domain/webhooks/webhook-filter.ts';
import { ownerScopeOf, type WebhookEventType } from '../../domain/webhooks/webhook.ts';
import type { Store } from '../../store/open-store.ts';
import type { SessionRecord } from '../../store/sessions/session-records.ts';
import type { DeliveryTarget } from '../../store/webhooks/deliveries.ts';
import type { WebhookRecord } from '../../store/webhooks/webhooks.ts';
import { renderBody } from '../../webhooks/bodies/render-body.ts';
import { sampleFacts } from '../../webhooks/bodies/sample-facts.ts';
import type { Message } from '../../webhooks/send-once.ts';
import type { Access } from '../access.ts';
import type { Audit } from '../audit/audit.ts';
import { makeTestLimit } from './test-limit.ts';
import { testUserOf } from './test-user.ts';

/** `sessionId` null: a made-up session, a chat without a project. */
export interface TestInput {
  readonly eventType: WebhookEventType;
  readonly sessionId: string | null;
}

/** What the filters decided, and what came of the attempt: null when nothing was sent. */
export interface TestResult {
  readonly filteredReason: FilteredReason | null;
  readonly tested: { readonly id: string | null; readonly kind: SessionKind; readonly projectId: string | null };
  readonly sent: (AttemptResult & { readonly eventId: string }) | null;
}

export interface TestWebhookParts {
  readonly store: Pick<Store, 'deliveries'>;
  readonly access: Pick<Access, 'webhook' | 'session'>;
  readonly audit: Pick<Audit, 'act' | 'read'>;
  readonly clock: Clock;
  readonly webhooks: {
    /** Makes one attempt. Never rejects. */
    sendOnce(target: DeliveryTarget, message: Message): Promise<AttemptResult>;
  };
}

/** Makes the verb. It throws as `Access.webhook` and `Access.session` do, `forbidden` for a session that the webhook would never report, and `rate_limited`. */
export function makeTestWebhook({ store, access, audit, clock, webhooks }: TestWebhookParts) {
  const limited = makeTestLimit();

  return async (caller: Caller, id: number, input: TestInput): Promise<TestResult> =>
    limited(caller, async () => test(caller, id, input));

  async function test(caller: Caller, id: number, { eventType, sessionId }: TestInput): Promise<TestResult> {
    const webhook = await access.webhook(caller, id);
    const session = sessionId === null ? null : await sessionFor(webhook, caller, sessionId);
    const tested = { id: session?.id ?? null, kind: session?.kind ?? 'chat', projectId: session?.projectId ?? null };
    const occasion = { type: eventType, sessionKind: tested.kind, projectId: tested.projectId };
    const reason = filteredReason(webhook, occasion);
    if (caller.reach === 'all') await audit.act(caller, 'webhook.test', String(id));
    const target = reason === null ? await store.deliveries.findTarget(id, clock.now()) : undefined;
    // Its owner may be disabled, and then it rests (H16).
    if (target === undefined) return { filteredReason: reason ?? 'disabled', tested, sent: null };

    const real =
      session === null
        ? { user: await userOf(webhook, caller) }
        : await store.deliveries.findTestFacts(session.seq, eventType);
    const facts = sampleFacts(eventType, real, clock.now());
    const { eventId } = facts;
    const body = renderBody(facts, { id, ownerScope: ownerScopeOf(webhook) });
    const result = await webhooks.sendOnce(target, { eventId, eventType, body });
    await store.deliveries.recordTest({ webhook, eventId, eventType, sessionSeq: session?.seq ?? null, body }, result);
    return { filteredReason: null, tested, sent: { ...result, eventId } };
  }

  /** What a webhook reports leaves the installation, so not even an administrator may report to one user what another does. */
  async function sessionFor({ userSeq }: WebhookRecord, caller: Caller, id: string): Promise<SessionRecord> {
    const session = await access.session(caller, id);
    if (userSeq !== null && userSeq !== session.userSeq)
      throw new ErrandError(
        'forbidden',
        "The session is of another user than the webhook, which gets its owner's events.",
      );
    await audit.read(caller, 'session.read', session);
    return session;
  }

  /** The user of a made-up session: the owner of the webhook; for a system webhook, the caller. */
  async function userOf({ userSeq }: WebhookRecord, caller: Caller): Promise<EventFacts['user']> {
    if (userSeq !== null) return store.deliveries.getEventUser(userSeq);
    return testUserOf(caller, clock.now());
  }
}
