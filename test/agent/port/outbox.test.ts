// How signals leave a thread: what is streamed with its mail, all else on the port of its run, in one numbering.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeMail, type Parcel } from '../../../src/agent/port/mail.ts';
import { makeOutbox } from '../../../src/agent/port/outbox.ts';
import type { Signal } from '../../../src/agent/port/protocol.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const text = (words: string, index = 0): Signal => ({ t: 'text', index, text: words });
const BLOCK: Signal = { t: 'block-start', index: 0 };
const LOG: Signal = { t: 'log', level: 'info', message: 'x', facts: {} };
const PONG: Signal = { t: 'pong' };

function makeThread(isTaken: () => boolean = () => true) {
  const mails: (readonly Parcel[])[] = [];
  const mail = makeMail((parcels) => mails.push(parcels), isTaken);
  const openRun = (line: number | null) => {
    const posted: Parcel[] = [];
    const post = (parcel: Parcel) => posted.push(parcel) > 0;
    return { posted, ...makeOutbox({ mail, line, post }) };
  };
  return { mails, openRun };
}

test('the first text after a quiet time leaves in the same turn, with its block and the text of other runs', async () => {
  const { mails, openRun } = makeThread();
  const [one, other] = [openRun(1), openRun(2)];
  one.add(BLOCK);
  one.add(text('Hi'));
  other.add(text('a'));
  other.add(text('b'));
  await turn();
  expect(mails).toEqual([
    [
      { line: 1, number: 0, batch: [BLOCK, text('Hi')] },
      { line: 2, number: 0, batch: [text('ab')] },
    ],
  ]);
});

test('text that follows closely waits and is merged, and leaves though nothing follows it', {
  tags: ['G8'],
}, async () => {
  const { mails, openRun } = makeThread();
  const run = openRun(1);
  run.add(text('a'));
  await turn();
  for (const word of ['b', 'c']) run.add(text(word));
  run.add(text('d', 1));
  expect(mails).toHaveLength(1);
  await waitFor(() => mails.length === 2);
  expect(mails[1]).toEqual([{ line: 1, number: 1, batch: [text('bc'), text('d', 1)] }]);
});

test('what is urgent takes along what waits, on the port of the run, and numbers continue', async () => {
  const { mails, openRun } = makeThread();
  const run = openRun(1);
  run.add(text('a'));
  await turn();
  run.add(text('b'));
  run.add(PONG);
  run.add(LOG);
  await turn();
  expect(run.posted).toEqual([{ line: 1, number: 1, batch: [text('b'), PONG, LOG] }]);
  run.add(text('c'));
  await waitFor(() => mails.length === 2);
  expect(mails[1]).toEqual([{ line: 1, number: 2, batch: [text('c')] }]);
});

test('the mail has nothing but what is streamed: a message that cannot be read must harm only its own run', async () => {
  const { mails, openRun } = makeThread();
  const run = openRun(1);
  run.add(text('a'));
  run.add(LOG);
  await turn();
  expect(run.posted).toEqual([{ line: 1, number: 0, batch: [text('a'), LOG] }]);
  expect(mails).toEqual([]);
});

test('without a line all is sent on the port', async () => {
  const { mails, openRun } = makeThread();
  const run = openRun(null);
  run.add(text('a'));
  await turn();
  expect(run.posted.map(({ batch }) => batch)).toEqual([[text('a')]]);
  expect(mails).toEqual([]);
});

test('while the main thread has not taken the last mail, text grows instead of leaving', async () => {
  let isTaken = true;
  const { mails, openRun } = makeThread(() => isTaken);
  const run = openRun(1);
  run.add(text('a'));
  await turn();
  isTaken = false;
  run.add(text('b'));
  // Leaves after the same time as one with a main thread that takes its mail.
  const other = makeThread();
  const marker = other.openRun(1);
  marker.add(text('x'));
  await turn();
  marker.add(text('y'));
  await waitFor(() => other.mails.length === 2);
  expect(mails).toHaveLength(1);
  run.add(text('c'));
  isTaken = true;
  await waitFor(() => mails.length === 2);
  expect(mails[1]).toEqual([{ line: 1, number: 1, batch: [text('bc')] }]);
});

test('mail that nobody takes leaves all the same, in the end', async () => {
  const { mails, openRun } = makeThread(() => false);
  const run = openRun(1);
  run.add(text('a'));
  await turn();
  run.add(text('b'));
  await waitFor(() => mails.length === 2);
});

test('a batch never grows beyond 64 signals', () => {
  const run = makeThread().openRun(1);
  for (let index = 0; index < 200; index += 1) run.add(text('x', index));
  run.flush();
  expect(run.posted.map(({ batch }) => batch.length)).toEqual([64, 64, 64, 8]);
});
