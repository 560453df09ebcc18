// The budget of all replies: who waits for whom, and who is refused.
import { expect, test } from 'vitest';
import { makeReplyBudget, quotasOfAddress, quotasOfUser } from '../../../src/http/replies/reply-budget.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

const LIMIT = 1_000;

function open() {
  const clock = fakeClock();
  const budget = makeReplyBudget(() => LIMIT, clock);
  const user = (name: string, hasBegun = false) => budget(quotasOfUser(name), () => hasBegun);
  const reader = (address: string) => budget(quotasOfAddress(address), () => false);
  return { clock, user, reader };
}

/** Whether something has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => setImmediate(() => resolve('later')));
  return (await Promise.race([promise.catch(() => undefined), later])) !== 'later';
}

test('whoever finds no room waits until others let go of theirs, in order', async () => {
  const { user } = open();
  const [one, two, three, four] = ['a', 'b', 'c', 'd'].map((name) => user(name));
  await one!.hold(600);
  const waits = [two!.hold(500), three!.hold(300)];
  expect(await isSettled(Promise.race(waits))).toBe(false);
  one!.release();
  await Promise.all(waits);
  const last = four!.hold(300);
  expect(await isSettled(last)).toBe(false);
  two!.release();
  await last;
});

test('holding again lets go first, so that nobody waits for himself', async () => {
  const { user } = open();
  const share = user('a');
  for (const bytes of [1_000, 1_000, 5_000, 10]) await share.hold(bytes);
  await user('b').hold(900);
});

test('one user leaves a part to others, and does not delay them', async () => {
  const { user } = open();
  await user('a').hold(700);
  expect(await isSettled(user('a').hold(100))).toBe(false);
  await user('b').hold(150);
});

test('readers without a credential leave half of it, and each of them leaves the most of that', async () => {
  const { user, reader } = open();
  await reader('10.0.0.1').hold(100);
  expect(await isSettled(reader('10.0.0.1').hold(50))).toBe(false);
  for (const host of [2, 3, 4, 5]) await reader(`10.0.0.${host}`).hold(100);
  expect(await isSettled(reader('10.0.0.6').hold(100))).toBe(false);
  await user('a').hold(350);
});

test('what is larger than the whole budget is admitted alone', async () => {
  const { user } = open();
  const [small, large] = [user('a'), user('b')];
  await small.hold(100);
  const waits = large.hold(LIMIT * 9);
  expect(await isSettled(waits)).toBe(false);
  small.release();
  await waits;
  expect(await isSettled(user('c').hold(100))).toBe(false);
});

test('a reply that has not begun is refused after ten seconds; one that has begun goes on waiting', async () => {
  const { clock, user } = open();
  const holder = user('a');
  await holder.hold(1_000);
  const refused = user('b').hold(100);
  const begun = user('c', true).hold(100);
  clock.advance(9_999);
  expect(await isSettled(refused)).toBe(false);
  clock.advance(1);
  await expect(refused).rejects.toMatchObject({ reason: 'unavailable' });
  clock.advance(600_000);
  expect(await isSettled(begun)).toBe(false);
  holder.release();
  await begun;
});

test('a client that leaves while it waits gives up its place', async () => {
  const { user } = open();
  const holder = user('a');
  await holder.hold(1_000);
  const gone = user('b');
  const waits = gone.hold(1_000);
  gone.release();
  await expect(waits).rejects.toMatchObject({ reason: 'unavailable' });
  const next = user('c').hold(1_000);
  holder.release();
  await next;
});

test('a little for whoever holds nothing does not wait for those who fill the budget', async () => {
  const { user, reader } = open();
  await user('a').hold(700);
  const others = ['b', 'c'].map(async (name) => user(name).hold(700));
  const little = user('d');
  await little.hold(15);
  await reader('10.0.0.1').hold(15);
  // A second time, or more than a little, is like everything else.
  const again = user('d').hold(15);
  expect(await isSettled(Promise.race([...others, again, user('e').hold(16)]))).toBe(false);
  little.release();
  await again;
});

test('whoever holds least comes before those who hold more, however long they have waited', async () => {
  const { user } = open();
  const held = ['a', 'a', 'a', 'b'].map((name) => user(name));
  for (const share of held) await share.hold(200);
  const [most, some, none] = ['a', 'b', 'c'].map((name) => ({ name, share: user(name) }));
  const admitted: string[] = [];
  const waits = [most!, some!, none!].map(async ({ name, share }) => {
    await share.hold(200);
    admitted.push(name);
  });
  for (const share of [held[0]!, none!.share, some!.share]) {
    share.release();
    await new Promise(setImmediate);
  }
  expect(admitted).toEqual(['c', 'b', 'a']);
  await Promise.all(waits);
});
