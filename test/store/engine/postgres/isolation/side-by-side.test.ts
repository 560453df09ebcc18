// Which statements of a group may come between those of another verb: of other sessions, and of nothing that rests on more than its session.
import { expect, test } from 'vitest';
import type { Scope } from '../../../../../src/store/engine/database.ts';
import { makeStreamSeqs } from '../../../../../src/store/engine/postgres/commits/journal.ts';
import { transact } from '../../../../../src/store/engine/postgres/commits/transact.ts';
import type { Connection } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { makeKeys } from '../../../../../src/store/engine/postgres/statements/keys.ts';
import type { Step, Transaction } from '../../../../../src/store/engine/statement.ts';
import type { Store } from '../../../../../src/store/open-store.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { patientConnection } from '../../../../support/postgres/patient-connection.ts';
import { caughtVerb } from '../../../../support/postgres/interleaving.ts';
import { databaseFor } from '../../../../support/postgres/shared-cluster.ts';
import { SETUP } from '../../../../support/store/schedules.ts';
import { aSpentCall, aStep, aTurn, BACKGROUND_CLAIM, FREE, START } from '../../../../support/store/store-fixture.ts';
import { fakeClock } from '../../../../support/time/fake-clock.ts';

/** A connection to the server, and the names in the statements that were sent on it, in their order. */
async function aConnection() {
  const sent: string[] = [];
  const connection = await patientConnection(databaseFor(temporaryDirectory()));
  const ask: Connection['ask'] = (statement, values) => {
    sent.push(...(/^SELECT '(.*)'$/.exec(statement.text)?.slice(1) ?? []));
    return connection.ask(statement, values);
  };
  return { connection: { ...connection, ask }, sent };
}

/** A verb of so many statements that are waited for. */
const named = (name: string, scope: Scope, count = 4) => ({
  scope,
  *verb(tx: Transaction): Step<void> {
    for (let at = 0; at < count; at += 1) yield* tx.get(`SELECT '${name}'`);
  },
});

test('verbs of other sessions share round trips; those of one session, and those on anything, follow each other', async () => {
  const { connection, sent } = await aConnection();
  const verbs = [
    named('one', [1]),
    named('two', [2]),
    named('new', []),
    named('one again', [1]),
    named('all', 'all'),
    named('three', [3]),
    named('both', [2, 3]),
    named('four', [4]),
  ];
  const parts = {
    clock: fakeClock(),
    streamSeqs: makeStreamSeqs(),
    writer: 'w',
    turn: null,
    keys: makeKeys(),
    hasWaited: false,
  };
  await transact(connection, verbs, parts);
  const placesOf = (name: string) => sent.flatMap((other, at) => (other === name ? [at] : []));
  const isBetween = (name: string, other: string) => {
    const [first, last] = [placesOf(other)[0]!, placesOf(other).at(-1)!];
    return placesOf(name).some((at) => at > first && at < last);
  };
  const names = ['one', 'two', 'new', 'one again', 'all', 'three', 'both', 'four'];
  expect(sent.toSorted()).toEqual(names.flatMap((name) => Array<string>(4).fill(name)).toSorted());
  expect(placesOf('all')[0]).toBe(16);
  const together = names.map((name) => [name, names.filter((other) => other !== name && isBetween(other, name))]);
  expect(Object.fromEntries(together)).toEqual({
    one: ['two', 'new'],
    two: ['one', 'new'],
    new: ['one', 'two'],
    'one again': [],
    all: [],
    three: ['four'],
    both: [],
    four: ['three'],
  });
});

const USER = { seq: 1 } as Parameters<typeof aTurn>[0];
const KEY = { seq: 1, target: 'free' } as Parameters<typeof aTurn>[1];
const FENCE = { sessionSeq: 7, runSeq: 1, attempt: 1, workedMs: 0 };
const ENDING = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
const LIMITS = { maxUnfinishedPerUser: 1, capacity: 1, userQuotaBytes: 0 };
const BACKGROUND = { payload: null, limits: { ...LIMITS, maxUnfinishedPerKey: 1 } };
const QUESTION = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1 };
const RESULT = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: '', durationMs: 1 };
const turn = aTurn(USER, KEY);

/** What each hot verb rests on. Whoever changes a line says why in decision 38. */
const SCOPES: Readonly<Record<string, readonly [Scope, (store: Store) => Promise<unknown>]>> = {
  'accept, opening': [[], ({ runs }) => runs.accept(turn)],
  'accept, continuing': [[7], ({ runs }) => runs.accept({ ...turn, sessionId: 'x', sessionSeq: 7 })],
  'accept, of a session that was not looked up': ['all', ({ runs }) => runs.accept({ ...turn, sessionId: 'x' })],
  'accept in the background': ['all', ({ runs }) => runs.accept({ ...turn, background: BACKGROUND })],
  claim: ['all', ({ runs }) => runs.claim({ ...START, limit: 1, background: BACKGROUND_CLAIM })],
  stream: [[7], ({ runs }) => runs.appendStream(FENCE, [])],
  step: [[7], ({ runs }) => runs.recordStep(FENCE, aStep(), FREE)],
  spent: [[7], ({ runs }) => runs.recordSpent(FENCE, aSpentCall(), FREE)],
  unkept: [[7], ({ runs }) => runs.recordUnkept(FENCE, { ...aSpentCall(), outcome: 'failed' }, FREE)],
  result: [[7], ({ runs }) => runs.recordToolResult(FENCE, RESULT)],
  discard: [[7], ({ runs }) => runs.discardText(FENCE)],
  wait: ['all', ({ runs }) => runs.waitForUser(FENCE, QUESTION)],
  answer: ['all', ({ userInputs }) => userInputs.answer('x', 'yes')],
  end: [[7], ({ runs }) => runs.end(FENCE, ENDING)],
  finalize: [[7], ({ runs }) => runs.finalize(FENCE, ENDING)],
  settle: [[7], ({ runs }) => runs.settle(FENCE)],
  'stop a session': ['all', ({ runs }) => runs.stopSession(7, 'user_requested_stop')],
  'stop a run': ['all', ({ runs }) => runs.stopRun({ sessionSeq: 7, runSeq: 1 }, 'user_requested_stop')],
  interrupt: ['all', ({ runs }) => runs.interrupt(FENCE, 'crash')],
  'fire what is due': ['all', ({ schedules }) => schedules.fireDue([], LIMITS)],
  'fire now': ['all', ({ schedules }) => schedules.fireNow({ seq: 1 }, { setup: SETUP, limits: LIMITS })],
};

test.each(Object.entries(SCOPES))('%s', async (_, [scope, call]) => {
  expect((await caughtVerb(call)).scope).toEqual(scope);
});
