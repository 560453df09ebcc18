// Office Mode over HTTP and a real store: watchers get what is committed.
import { expect } from 'vitest';
import type { NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import { makeBus } from '../../../src/events/bus.ts';
import { makeOfficeFeed } from '../../../src/events/office-feed.ts';
import { makeEventScopes } from '../../../src/events/event-scopes.ts';
import { makeSessionFeeds } from '../../../src/events/session-feeds.ts';
import { makeAccess } from '../../../src/operations/access.ts';
import { makeAuditedAccess } from '../../../src/operations/audited-access.ts';
import { makeWatchOperations } from '../../../src/operations/office/watch.ts';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { auditOf } from '../store/audit.ts';
import { type Fixture, type FixtureOptions, openFixture } from './http-fixture.ts';
import { fenceOf, storeFixture } from '../store/store-fixture.ts';
import { readSse, type SseEvent } from './sse.ts';

export const OFFICE = '/api/v1/office-mode';

export const delta = (text: string): NewEvent => ({ type: 'content_block_delta', payload: { index: 0, text } });

export interface OfficeOptions extends FixtureOptions {
  /** Events that the feed keeps to resume from. */
  readonly kept?: number;
  /** Whether somebody has watched before, so that the feed keeps events. */
  readonly wasWatched?: boolean;
}

/** Opens it with a session whose one run is running. */
export async function openOffice({ kept = 100, wasWatched = true, ...options }: OfficeOptions = {}) {
  const rows = await storeFixture();
  const { store } = rows;
  const bus = makeBus();
  store.onCommitted(bus.publish);
  const scopes = makeEventScopes(store.events);
  const [access, audit] = [makeAccess(store), auditOf({ store })];
  const feed = makeOfficeFeed({ bus, scopes, clock: rows.clock, kept });
  if (wasWatched) feed.newestId();
  const watch = makeWatchOperations({
    store,
    access,
    audit,
    auditedAccess: makeAuditedAccess({ access, audit }),
    feeds: makeSessionFeeds({ bus, events: store.events, scopes }),
    floor: feed,
  });
  const fixture = await openFixture({ ...options, operations: { ...watch, ...options.operations } });
  const run = await rows.accept();
  const [claimed] = await rows.claim();
  const fence: Progress = fenceOf(claimed!);
  const say = (...texts: readonly string[]) => store.runs.appendStream(fence, texts.map(delta));
  const finish = async () => {
    await store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await store.runs.settle(fence);
  };
  return { ...rows, bus, fixture, run, fence, say, finish, session: `${OFFICE}/sessions/${run.sessionId}` };
}

/** Opens a stream that is read as it comes, past its `retry:`. */
export async function watch(fixture: Fixture, path: string, headers: Readonly<Record<string, string>> = {}) {
  const leave = new AbortController();
  const response = await fetch(`${fixture.url}${path}`, {
    signal: leave.signal,
    headers: { authorization: 'Bearer admin-key', ...headers },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const events = readSse(response.body!);
  const next = async (): Promise<SseEvent | undefined> => (await events.next()).value ?? undefined;
  /** The next events, by their ids. */
  const ids = async (count: number) => {
    const found: number[] = [];
    while (found.length < count) found.push(Number((await next())?.id));
    return found;
  };
  return { next, ids, leave: () => leave.abort() };
}
