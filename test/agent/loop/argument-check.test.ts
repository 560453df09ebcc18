// Arguments are checked by compiled schemas, of which a thread keeps a bounded number.
import { queryObjects } from 'node:v8';
import { SchemaEnv } from 'ajv/dist/compile/index.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeArgumentCheck } from '../../../src/agent/loop/argument-check.ts';
import { delegation } from '../../../src/agent/packs/delegate.ts';
import { NO_EQUIPMENT, type SubagentGrant } from '../../../src/agent/port/grants.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, makeBrief, makeTools, startRun } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const MOON: SubagentGrant = {
  name: 'moon',
  description: 'Knows the tides.',
  instructions: 'You are moon.',
  model: null,
  tools: [],
  equipment: NO_EQUIPMENT,
  subagents: [],
};

/** A run that makes a schema of its own, and checks a call against it. */
async function delegate(): Promise<void> {
  server.enqueue(
    { tools: [{ id: 'd1', name: 'delegate', input: { agent: 'sun', task: 'Find it.' } }] },
    { tools: [{ id: 'd2', name: 'delegate', input: { agent: 'moon', task: 'Find it.' } }] },
    { text: 'High.' },
    { text: 'It is high.' },
  );
  const equipment = { ...NO_EQUIPMENT, subagents: [MOON] };
  const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl: server.url }, equipment }), [], {
    packs: [delegation],
  });
  expect(await main.done).toMatchObject({ status: 'completed', text: 'It is high.' });
  expect(main.of('tool-result').map(({ result }) => result)).toEqual([
    { ok: false, output: expect.stringContaining('/agent must be equal to one of the allowed values') },
    { ok: true, output: 'High.' },
  ]);
}

/** Counted after a collection of garbage. */
const compiledSchemas = () => queryObjects(SchemaEnv, { format: 'count' });

test('a thread keeps no compiled schema of the runs that it has executed', async () => {
  await delegate();
  const before = compiledSchemas();
  for (let run = 0; run < 5; run += 1) await delegate();
  // The newest run may still be on the stack of a promise.
  expect(compiledSchemas()).toBeLessThan(before + 3);
});

test('a run compiles the schema of a tool once', () => {
  const { echo } = makeTools();
  const argumentFaults = makeArgumentCheck();
  argumentFaults(echo, { text: 'a' });
  const before = compiledSchemas();
  for (let call = 0; call < 5; call += 1)
    expect(argumentFaults(echo, { text: call })).toEqual(['/text must be string']);
  expect(compiledSchemas()).toBe(before);
});

test('however many schemas runs make, a thread keeps the 64 that were used last', () => {
  const { echo } = makeTools();
  const argumentFaults = makeArgumentCheck();
  const check = (word: string) =>
    argumentFaults({ ...echo, inputSchema: { type: 'object', properties: { text: { const: word } } } }, { text: 'w0' });
  expect(check('w0')).toEqual([]);
  for (let n = 1; n <= 63; n += 1) expect(check(`w${n}`)).toEqual(['/text must be equal to constant']);
  const full = compiledSchemas();
  for (let n = 64; n < 164; n += 1) {
    check(`w${n}`);
    expect(check('w0')).toEqual([]);
  }
  // A schema that was just dropped may still be on the stack.
  expect(compiledSchemas()).toBeLessThan(full + 3);
});
