// Details of runs are removed in several commits, and a kill may come between any two of them.
import { expect, test } from 'vitest';
import { stepMessages } from '../../../src/agent/conversation/history.ts';
import type { RecordedStep } from '../../../src/agent/port/protocol.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { GRANT } from '../../agent/play-main.ts';
import { aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';

const STEPS = 3;
const ALL = { characters: 10_000, bytes: 100_000, documentBytes: 0 };

const aCall = (step: number) => ({ id: `call_${step}`, name: 'shell', input: { command: 'true' } });

/** What a step records of its reply: in the present form, and in that of earlier releases. */
const FORMS: readonly [string, (ids: readonly string[]) => JsonObject][] = [
  [
    'now',
    (ids) => ({
      version: 2,
      model: GRANT.model,
      ending: 'tool-calls',
      parts: ids.map((id) => ({ type: 'call', id })),
      faults: {},
    }),
  ],
  [
    'by earlier releases',
    (ids) => ({
      assistant: {
        role: 'assistant',
        content: ids.map((id) => ({ type: 'tool-call', toolCallId: id, toolName: 'shell' })),
      },
    }),
  ],
];

/** A run that called a tool in each of its steps but the last, and its successor in the session. */
async function twoTurns(messageOf: (ids: readonly string[]) => JsonObject) {
  const fixture = await storeFixture();
  const { runs } = fixture.store;
  const old = await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  for (let step = 1; step <= STEPS; step += 1) {
    const { id, name } = aCall(step);
    const calls = step === STEPS ? [] : [aCall(step)];
    const message = messageOf(calls.map((call) => call.id));
    await runs.recordStep(fence, aStep({ step, text: '', message, calls }), FREE);
    const result = { step, toolUseId: id, name, ok: true, output: 'done', durationMs: 1 };
    if (step < STEPS) await runs.recordToolResult(fence, result);
  }
  await runs.finalize(fence, { outcome: 'completed', answer: 'Done.', stopReason: 'end_turn' });
  await runs.settle(fence);
  return { fixture, old, next: await fixture.accept({ sessionId: old.sessionId }) };
}

/** A commit that ends after so many statements, each of one row. */
const aCommit = (statements: number) => {
  let left = statements;
  return { room: () => (left-- > 0 ? 1 : 0) };
};

test.each(FORMS)(
  'of what was recorded %s, a model is shown no call without its result while it is removed',
  async (_name, form) => {
    const { fixture, old, next } = await twoTurns(form);
    const shown = new Set<string>();
    for (let more = true; more; ) {
      ({ more } = await fixture.store.retention.detailsOfRuns(fixture.clock.now() + 1, aCommit(1)));
      const { turns } = await fixture.store.turns.listBefore(old.sessionSeq, next.seq, ALL);
      const messages = turns.flatMap(({ steps }) =>
        (steps as unknown as RecordedStep[]).flatMap((step) => stepMessages(step, { model: GRANT })),
      );
      const idsOf = (type: 'call' | 'result') =>
        messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === type ? [part.id] : [])));
      expect(idsOf('call')).toEqual(idsOf('result'));
      shown.add(String(idsOf('result').length));
    }
    // Each state in between was seen.
    expect([...shown]).toEqual(['2', '1', '0']);
  },
);
