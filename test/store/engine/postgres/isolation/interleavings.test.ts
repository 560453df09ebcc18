// Verbs that may be carried out side by side come to what one after the other comes to, whatever the order of their statements.
import { expect, test } from 'vitest';
import { join } from 'node:path';
import type { Store } from '../../../../../src/store/open-store.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { caughtVerb, makeDrive } from '../../../../support/postgres/interleaving.ts';
import { patientConnection } from '../../../../support/postgres/patient-connection.ts';
import { databaseFor } from '../../../../support/postgres/shared-cluster.ts';
import {
  aSpentCall,
  aStep,
  aTurn,
  fenceOf,
  FREE,
  START,
  type StoreFixture,
  storeFixture,
} from '../../../../support/store/store-fixture.ts';

/** Sessions of one of two verbs. */
interface Side {
  /** Has a run that executes, in the middle of its text and of a call. */
  readonly busy: ReturnType<typeof fenceOf> & { readonly sessionId: string };
  /** Has ended its run. */
  readonly idle: { readonly sessionSeq: number; readonly sessionId: string };
}

const ENDING = { outcome: 'completed', answer: 'The moon pulls.', stopReason: 'end_turn' } as const;
const SETUP = { sha256: 'x', bytes: Buffer.from('{}') };

async function aSide(fixture: StoreFixture): Promise<Side> {
  const { runs } = fixture.store;
  await fixture.accept();
  const [ended] = await fixture.claim();
  await runs.end(fenceOf(ended!), ENDING);
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  await runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 0 } }]);
  await runs.recordStep(fence, aStep({ calls: [{ id: 'x', name: 'shell', input: {} }] }), FREE);
  await runs.appendStream(fence, [{ type: 'content_block_delta', payload: { index: 1, text: 'The ' } }]);
  return { busy: { ...fence, sessionId: run!.sessionId }, idle: ended! };
}

type Call = (store: Store, side: Side, turn: ReturnType<typeof aTurn>) => Promise<unknown>;

const CALLS: Readonly<Record<string, Call>> = {
  'accept, opening': ({ runs }, _, turn) => runs.accept({ ...turn, start: START }),
  'accept with a key': ({ runs }, _, turn) => runs.accept({ ...turn, idempotencyKey: 'k' }),
  'accept, continuing': ({ runs }, { idle }, turn) => runs.accept({ ...turn, ...ofSession(idle), start: START }),
  'accept, waiting': ({ runs }, { busy }, turn) => runs.accept({ ...turn, ...ofSession(busy) }),
  stream: ({ runs }, { busy }) =>
    runs.appendStream(busy, [{ type: 'content_block_delta', payload: { index: 1, text: 'moon' } }]),
  step: ({ runs }, { busy }) => runs.recordStep(busy, aStep({ step: 2, setup: SETUP }), FREE),
  result: ({ runs }, { busy }) =>
    runs.recordToolResult(busy, { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: '', durationMs: 1 }),
  unkept: ({ runs }, { busy }) => runs.recordUnkept(busy, { ...aSpentCall(), outcome: 'failed' }, FREE),
  discard: ({ runs }, { busy }) => runs.discardText(busy),
  end: ({ runs }, { busy }) => runs.end(busy, ENDING),
};
const ofSession = ({ sessionId, sessionSeq }: Side['idle']) => ({ sessionId, sessionSeq });

/** Those that share most with others. */
const HOT = ['accept, opening', 'accept, continuing', 'step'];

/** A step of both sides exceeds the share of this budget that is warned of. */
const BUDGET = { subject: 'user', unit: 'tokens', period: 'month', timeZone: 'UTC', limit: 50 } as const;
const repeated = <Which extends 0 | 1>(which: Which, times: number) => Array<Which>(times).fill(which);

test('two verbs of different sessions come to the same in any order', { timeout: 600_000 }, async () => {
  const file = join(temporaryDirectory(), 'errand.db');
  const fixture = await storeFixture(file);
  const { user, key, clock, store } = fixture;
  await store.budgets.set({ ...BUDGET, payer: { keySeq: null, userSeq: user.seq, teamId: null } }, clock.now);
  const sides = [await aSide(fixture), await aSide(fixture)] as const;
  const turn: ReturnType<typeof aTurn> = { ...aTurn(user, key), protocol: 'chat' };
  const connection = await patientConnection(databaseFor(file));
  const drive = await makeDrive(connection, clock.now());

  const names = Object.keys(CALLS);
  for (const [one, other] of names.flatMap((name, at) => names.slice(at).map((second) => [name, second] as const))) {
    const first = await caughtVerb((caught) => CALLS[one]!(caught, sides[0], turn));
    const second = await caughtVerb((caught) => CALLS[other]!(caught, sides[1], turn));
    expect([first.scope, second.scope]).not.toContain('all');
    const verbs = [first, second] as const;
    const { statements, what } = await drive(verbs, []);
    const serial = [what, (await drive(verbs, repeated(1, 1_000))).what];
    expect(serial).not.toContain('duplicate');
    const [most, mostOfOther] = statements;
    // The first is interrupted once: by all of the other, or also by each part of it.
    const from = HOT.includes(one) && HOT.includes(other) ? 1 : mostOfOther;
    for (let before = 1; before < most; before += 1) {
      for (let between = from; between <= mostOfOther; between += 1) {
        const order = [...repeated(0, before), ...repeated(1, between), ...repeated(0, most)];
        const { what: found } = await drive(verbs, order);
        // Both have inserted the same key, which undoes the group, and each is carried out alone.
        if (found === 'duplicate' || serial.includes(found)) continue;
        expect(serial, `${one}, ${other}: ${before}, ${between}`).toContain(found);
      }
    }
  }
});
