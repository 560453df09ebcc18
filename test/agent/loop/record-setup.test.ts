// What is recorded of instructions and tools.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordSetup } from '../../../src/agent/loop/record-setup.ts';
import type { RunSetup, SetupText } from '../../../src/domain/sessions/run-setup.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, makeBrief, makeTools, startRun } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
  server.script({ text: 'Fine.' });
});
afterAll(() => server.close());

const textOf = ({ bytes }: RunSetup) => Buffer.from(bytes).toString();

test('the first reply of an attempt has what the server was asked with; later ones have nothing', async () => {
  const { tools } = makeTools();
  server.enqueue({ tools: [{ id: 'one', name: 'echo', input: { text: 'hi' } }] });
  const main = startRun(await makeBrief({ model: { ...GRANT, kind: 'openai', baseUrl: server.url } }), tools);
  await main.done;
  const [first, second] = main.of('step').map(({ reply }) => reply.setup);
  const recorded = JSON.parse(textOf(first!)) as SetupText;
  const asked = server.requests.at(-1)!.body as unknown as {
    readonly messages: readonly { readonly content: string }[];
    readonly tools: readonly { readonly function: { name: string; description: string; parameters: object } }[];
  };
  expect(asked.messages[0]!.content).toBe(recorded.system);
  expect(recorded.tools).toEqual(
    asked.tools.map(({ function: { name, description, parameters: schema } }) => ({ name, description, schema })),
  );
  expect(recorded.omitted).toEqual([]);
  expect(second).toBeNull();
});

test('the same instructions and tools have the same hash, and what has no room is named', () => {
  const { tools } = makeTools();
  const [tool] = tools;
  expect(recordSetup('Work.', tools)).toEqual(recordSetup('Work.', tools));
  expect(recordSetup('Work.', tools).sha256).not.toBe(recordSetup('Rest.', tools).sha256);
  const large = { ...tool!, name: 'n'.repeat(200), description: 'ü'.repeat(100_000) };
  const text = textOf(recordSetup('ü'.repeat(1_000_000), [large, tool!, large]));
  const { system, omitted, tools: kept } = JSON.parse(text) as SetupText;
  expect(Buffer.byteLength(system)).toBe(131_072);
  expect(kept.map(({ name }) => name)).toEqual([tool!.name]);
  expect(omitted).toEqual(['n'.repeat(100), 'n'.repeat(100)]);
});
