// Requests of the storm that can't be repeated without harm: which of them may have an effect after it was looked for.
import { expect, test } from 'vitest';
import { makeAccount, untilKnown } from '../../../../scripts/chaos/clients/late.ts';
import type { NoReply, Reply } from '../../../../scripts/chaos/clients/operator.ts';

const created: Reply = { status: 201, data: 'created', text: '' };
const busy: Reply = { status: 409, data: undefined, text: '' };

/** What becomes of a request with these replies, when a look finds its effect after so many looks. */
async function ask(replies: readonly (Reply | NoReply)[], foundAfter = Infinity) {
  const late = new Map<string, number>();
  const left = [...replies];
  let looks = 0;
  const result = await untilKnown<unknown>(late, {
    name: 'it',
    pauseMs: 0,
    send: async () => left.shift()!,
    take: ({ status, data }) => (status === 201 ? data : undefined),
    look: async () => ((looks += 1) >= foundAfter ? 'found' : undefined),
  });
  return { result, late: late.get('it') ?? 0, left: left.length };
}

test.for([
  ['answered at once', [created], Infinity, 'created', 0],
  ['busy first', [busy, created], Infinity, 'created', 0],
  ['refused first', ['refused', created], Infinity, 'created', 0],
  ['carried out, and its reply lost', ['lost'], 1, 'found', 0],
  ['carried out, and refused', ['refused'], 1, 'found', 0],
  ['lost, not found, and sent again', ['lost', created], Infinity, 'created', 1],
  ['lost twice, then found', ['lost', 'lost'], 2, 'found', 1],
  ['lost, then found behind a refusal', ['lost', 'refused'], 2, 'found', 1],
  ['lost three times, busy, then answered', ['lost', 'lost', busy, 'lost', created], Infinity, 'created', 3],
] as const)('one that is %s', async ([, replies, foundAfter, result, late]) => {
  expect(await ask(replies, foundAfter)).toEqual({ result, late, left: 0 });
});

test('each late request accounts for one effect', () => {
  const isLate = makeAccount(new Map([['a', 2]]));
  expect([isLate('a'), isLate('b'), isLate(null), isLate('a'), isLate('a')]).toEqual([true, false, false, true, false]);
});
