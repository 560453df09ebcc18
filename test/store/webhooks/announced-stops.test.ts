// What webhooks hear of stops: one event for each, whatever it canceled (§3.3).
import { beforeEach, expect, test } from 'vitest';
import type { StopCause } from '../../../src/domain/sessions/stop.ts';
import { renderPayload } from '../../../src/wire/event-payloads.ts';
import { aTask, fireDue } from '../../support/store/schedules.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { aWebhook } from '../../support/store/webhooks.ts';

const USER: StopCause = 'user_requested_stop';
const QUESTION = { toolUseId: 'q1', toolName: 'ask_user', toolInput: {}, lifetimeMs: 60_000 };

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await storeFixture();
  await fixture.store.webhooks.create(aWebhook({ events: ['session.stopped'] }));
});

/** The runs of the `session.stopped` that were planned, in order; those who listen without a webhook get the same. */
async function announced(): Promise<string[]> {
  while ((await fixture.store.deliveries.plan()).more);
  const runOf = ({ body }: { body: string }) => (JSON.parse(body) as { run: { run_id: string } }).run.run_id;
  const sent = fixture.rows<{ body: string }>('SELECT body FROM webhook_deliveries ORDER BY id').map(runOf);
  const wanted = { owner: 0, types: ['session.stopped'], afterId: 0, limit: 99 } as const;
  expect((await fixture.store.deliveries.readEvents(wanted)).events.map(runOf)).toEqual(sent);
  return sent;
}

/** Runs whose stream was told that they were stopped. */
const told = () => fixture.committed.filter(({ type }) => type === 'run.stopped').length;

/** Turns in one session. */
async function turns(count: number) {
  const first = await fixture.accept();
  const runs = [first];
  while (runs.length < count) runs.push(await fixture.accept({ sessionId: first.sessionId }));
  return runs;
}

const STOPS: readonly (readonly [string, (sessionSeq: number) => Promise<unknown>])[] = [
  ['a stop', (sessionSeq) => fixture.store.runs.stopSession(sessionSeq, USER)],
  ['deleting the session', (sessionSeq) => fixture.store.sessions.deleteSession(sessionSeq)],
];

test.each(STOPS)(
  '%s with queued turns behind the one that executes sends one event, of that one',
  { tags: ['§3.3-one-event'] },
  async (_, stop) => {
    const runs = await turns(4);
    await fixture.claim();
    await stop(runs[0]!.sessionSeq);
    expect(await announced()).toEqual([runs[0]!.id]);
    expect(told()).toBe(4);
  },
);

test.each(STOPS)(
  '%s with queued turns behind one that waits for its user sends one event, of that one',
  async (_, stop) => {
    const runs = await turns(3);
    const [run] = await fixture.claim();
    await fixture.store.runs.waitForUser(fenceOf(run!), QUESTION);
    await stop(run!.sessionSeq);
    expect(await announced()).toEqual([runs[0]!.id]);
    expect(told()).toBe(3);
  },
);

test.each(STOPS)(
  '%s that finds queued turns only sends one event, of the newest',
  { tags: ['§3.3-one-event'] },
  async (_, stop) => {
    const runs = await turns(3);
    await stop(runs[0]!.sessionSeq);
    expect(await announced()).toEqual([runs[2]!.id]);
    expect(told()).toBe(3);
  },
);

test('stopping one run sends its event, and so does the stop of what was behind it', async () => {
  const [first, second, third] = await turns(3);
  await fixture.store.runs.stopRun({ sessionSeq: first!.sessionSeq, runSeq: second!.seq }, USER);
  await fixture.store.runs.stopSession(first!.sessionSeq, USER);
  expect(await announced()).toEqual([second!.id, third!.id]);
});

test('runs that a queue finds of a disabled user are one stop for each session', {
  tags: ['§3.3-one-event'],
}, async () => {
  const [, , newest] = await turns(3);
  const other = await fixture.accept();
  await fixture.store.users.create({ ...fixture.user, username: 'root', passwordHash: 'x' });
  await fixture.store.users.change('mara', { disabled: true });
  while ((await fixture.claim(1)).length > 0);
  expect((await announced()).sort()).toEqual([newest!.id, other.id].sort());
  expect(told()).toBe(4);
});

test.each([
  ['disabled', (id: string) => fixture.store.schedules.change(id, { enabled: false })],
  ['deleted', (id: string) => fixture.store.schedules.remove(id)],
])(
  'a firing that waits as its task is %s is dropped without an event: nobody stopped it',
  { tags: ['§3.3-one-event'] },
  async (_, drop) => {
    const task = await fixture.store.schedules.create(aTask(fixture.user.seq));
    fixture.clock.advance(60_000);
    await fireDue(fixture);
    await drop(task.id);
    expect(told()).toBe(1);
    expect(await announced()).toEqual([]);
  },
);

test('what readers of an event see of a stop is its reason alone', async () => {
  const runs = await turns(2);
  await fixture.store.runs.stopSession(runs[0]!.sessionSeq, USER);
  const stops = fixture.committed.filter(({ type }) => type === 'run.stopped');
  expect(stops.map((event) => renderPayload(event))).toEqual([{ reason: USER }, { reason: USER }]);
});
