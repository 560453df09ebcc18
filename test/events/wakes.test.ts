// Which services each committed event wakes, seen on the store's own verbs.
import { ASLEEP } from '../support/events/asleep.ts';
import { beforeEach, expect, test } from 'vitest';
import type { JournalEvent } from '../../src/domain/sessions/journal-event.ts';
import { WEBHOOK_EVENTS } from '../../src/domain/webhooks/webhook.ts';
import { makeBus } from '../../src/events/bus.ts';
import { makeWakes, type Wakers, type Wakes, type WokenService } from '../../src/events/wakes.ts';
import { PAYLOADS } from '../../src/wire/event-payloads.ts';
import { aTask, fireNow, steps, work } from '../support/store/schedules.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';

let fixture: StoreFixture;
let wakes: Wakes;
let woken: Partial<Record<WokenService, number[]>>;

beforeEach(async () => {
  fixture = await storeFixture();
  woken = {};
  const note = (service: WokenService) => (sessionSeq: number) => {
    (woken[service] ??= []).push(sessionSeq);
  };
  const bus = makeBus();
  fixture.store.onCommitted(bus.publish);
  const services = Object.keys(ASLEEP) as WokenService[];
  wakes = makeWakes();
  wakes.follow(bus, Object.fromEntries(services.map((name) => [name, note(name)])) as unknown as Wakers);
});

/** A claimed run, with nothing noted of how it came to be. */
async function running() {
  await fixture.accept();
  const [run] = await fixture.claim();
  woken = {};
  return run!;
}

const QUESTION = { toolUseId: 'ask1', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1_000 };

const IN_BACKGROUND = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } };

test('a background turn that is accepted wakes the queue and the watch over waits; any other is admitted by the queue itself', async () => {
  await fixture.accept();
  expect(woken).toEqual({});
  const { sessionSeq } = await fixture.accept({ background: IN_BACKGROUND });
  expect(woken).toEqual({ queue: [sessionSeq], queueWait: [sessionSeq] });
});

test('a run that completes has its workspace collected', async () => {
  const run = await running();
  await fixture.store.runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  expect(woken).toEqual({});
  await fixture.store.runs.settle(fenceOf(run));
  expect(woken).toEqual({ collector: [run.sessionSeq], planner: [run.sessionSeq] });
});

test('a move of a run of a task wakes the queue: another step, or another firing, may begin', async () => {
  await fireNow(fixture, await fixture.store.schedules.create(aTask(fixture.user.seq, { work: steps('one', 'two') })));
  expect(woken).toMatchObject({ queue: [1], planner: [1], publisher: [1] });
  woken = {};
  await work(fixture);
  expect(woken).toMatchObject({ queue: [1, 1, 1], planner: [1, 1, 1, 1], publisher: [1, 1, 1], collector: [1] });
});

test('a background run whose wait is over makes the queue look for others', async () => {
  const { seq, sessionSeq } = await fixture.accept({ background: IN_BACKGROUND });
  woken = {};
  await fixture.store.runs.expireQueued(seq);
  const all = [sessionSeq];
  expect(woken).toEqual({ queue: all, collector: all, sweeper: all, planner: all });
});

test('a run whose worker was lost is claimed again, and what it streamed is thrown away', async () => {
  const run = await running();
  await fixture.store.runs.interrupt(fenceOf(run), 'crash');
  expect(woken).toEqual({ queue: [run.sessionSeq], sweeper: [run.sessionSeq] });
});

test('a lease that ended wakes the queue', async () => {
  const run = await running();
  fixture.clock.advance(60_001);
  await fixture.store.runs.renewLeases('here', [], 60_000);
  expect(woken.queue).toEqual([run.sessionSeq]);
});

test.each(['answer', 'expire'] as const)('a question is watched, and %s of it wakes the queue', async (how) => {
  const run = await running();
  await fixture.store.runs.waitForUser(fenceOf(run), QUESTION);
  expect(woken).toEqual({ questionWatch: [run.sessionSeq], planner: [run.sessionSeq] });
  woken = {};
  const [question] = (
    await fixture.store.userInputs.list({
      userSeq: null,
      keySeq: null,
      sessionSeq: run.sessionSeq,
      status: 'pending',
      limit: 1,
      offset: 0,
    })
  ).items;
  const { userInputs } = fixture.store;
  await (how === 'answer' ? userInputs.answer(question!.id, 'yes') : userInputs.expire(question!.id));
  const told = how === 'answer' ? { planner: [run.sessionSeq] } : {};
  expect(woken).toEqual({ queue: [run.sessionSeq], ...told });
});

test('a session that is deleted is cleaned up, and what ran in it collected', async () => {
  const run = await running();
  await fixture.store.sessions.deleteSession(run.sessionSeq);
  const all = [run.sessionSeq];
  expect(woken).toEqual({ queue: all, collector: all, sweeper: all, leftCopies: all, planner: all });
});

test('the end of an executor has no event, and still wakes what waits for it', async () => {
  const run = await running();
  await fixture.store.runs.stopSession(run.sessionSeq, 'user_requested_stop');
  woken = {};
  await fixture.store.runs.confirmStop(run.sessionSeq);
  expect(woken).toEqual({});
  wakes.stopConfirmed(run.sessionSeq);
  expect(woken).toEqual({
    queue: [run.sessionSeq],
    collector: [run.sessionSeq],
    sweeper: [run.sessionSeq],
    leftCopies: [run.sessionSeq],
  });
});

test('every event that a webhook can want wakes the planner, and no other does', () => {
  const noted: string[] = [];
  const bus = makeBus();
  makeWakes().follow(bus, { ...ASLEEP, planner: (_, occasion) => noted.push(occasion) });
  const types = Object.keys(PAYLOADS) as (keyof typeof PAYLOADS)[];
  bus.publish(types.map((type) => ({ type, sessionSeq: 1, payload: {} }) as JournalEvent));
  const wanted = Object.values(WEBHOOK_EVENTS).map(({ journalType }) => journalType);
  expect(noted.sort()).toEqual(wanted.sort());
});

test.for([
  ['blobs released', ['sweeper']],
  ['task rescheduled', ['scheduler']],
  ['webhook changed', ['planner', 'sender', 'upkeep']],
  ['webhook disabled', ['upkeep']],
  ['deliveries planned', ['sender']],
  ['share changed', ['pageSweeper']],
  ['draft abandoned', ['pageSweeper']],
] as const)('an occasion without an event wakes whom it concerns: %s', ([occasion, services]) => {
  wakes.happened(occasion);
  expect(Object.keys(woken).sort()).toEqual(services);
});

test('what happens before anything is followed wakes nobody', () => {
  expect(() => makeWakes().happened('webhook changed')).not.toThrow();
});

test('what has no event is told to other nodes, and what they tell wakes as here; holds of blobs concern one process', () => {
  const said: string[] = [];
  let hear: (words: string | null) => void = () => undefined;
  const peers = {
    tell: (words: string) => void said.push(words),
    onTold: (listener: typeof hear) => void (hear = listener),
  };
  const shared = makeWakes(peers);
  const heard: string[] = [];
  const services = Object.keys(ASLEEP) as WokenService[];
  const note = (service: WokenService) => (sessionSeq: number) => void heard.push(`${service} ${sessionSeq}`);
  shared.follow(makeBus(), Object.fromEntries(services.map((name) => [name, note(name)])) as unknown as Wakers);
  const confirmed: number[] = [];
  shared.onStopConfirmed((sessionSeq) => void confirmed.push(sessionSeq));
  shared.happened('task rescheduled');
  shared.happened('blobs released');
  shared.stopConfirmed(7);
  expect(said).toEqual(['task rescheduled', 'stop confirmed 7']);
  heard.length = 0;
  hear('stop confirmed 8');
  hear('webhook changed');
  hear('words of a later version');
  expect(heard).toEqual(['queue 8', 'collector 8', 'sweeper 8', 'leftCopies 8', 'planner 0', 'upkeep 0', 'sender 0']);
  expect(confirmed).toEqual([7, 8]);
  hear(null);
  for (const service of ['queue', 'scheduler', 'planner', 'pageSweeper']) expect(heard).toContain(`${service} 0`);
});
