// A brief is built while the disk syncs the acceptance of its run: nothing that outlasts the run comes before the end of that.
import { expect, test } from 'vitest';
import { NO_EQUIPMENT } from '../../../src/agent/port/grants.ts';
import { type BriefParts, makeBuildBrief } from '../../../src/execution/brief/brief.ts';
import { resolveModel } from '../../../src/execution/brief/resolve-model.ts';
import { executorParts } from '../../support/agent/executor-parts.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { aTurn, START, storeFixture } from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const FILE = {
  name: 'list.csv',
  path: '/files/list.csv',
  workspacePath: '/uploads/list.csv',
  mimeType: 'text/csv',
  size: 3,
  sha256: 'aa',
};
const SERVER = { name: 'notes', transport: { kind: 'stdio', command: 'notes', args: [], env: {} } };

test.each([
  ['attached files', { attachments: [FILE], mcp: [] }],
  ['an MCP server that works in the workspace', { attachments: [], mcp: [SERVER] }],
])('a run with %s gets its brief when its acceptance is on the disk', async (_, { attachments, mcp }) => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { promise: kept, resolve: keep } = Promise.withResolvers<void>();
  const did: string[] = [];
  const { store } = fixture;
  const parts = {
    store: {
      ...store,
      turns: { ...store.turns, get: async () => ({ runSeq: run!.seq, user: [], attachments, steps: [] }) },
      durable: async () => {
        did.push('waits');
        await kept;
        did.push('kept');
      },
    },
    workspaces: { owner: null, pathOf: () => '/nowhere', placeUploads: async () => did.push('files') > 0 },
    sandbox: () => null,
    documents: { textsOf: async () => ({}) },
    equip: async () => ({ ok: true, outfit: { instructions: '', tools: [], equipment: { ...NO_EQUIPMENT, mcp } } }),
    settings: () => SETTINGS,
  } as unknown as BriefParts;
  const resolved = resolveModel(executorParts(fixture, {}).catalog(), 'scripted')!;
  const building = makeBuildBrief(parts)(run!, resolved).then(({ ok }) => did.push(ok ? 'brief' : 'refused'));
  await waitFor(() => did.length > 0);
  expect(did).toEqual(['waits']);
  keep();
  await building;
  expect(did).toEqual(['waits', 'kept', ...(attachments.length > 0 ? ['files'] : []), 'brief']);
});

test('a run that starts with its short turn gets its brief without a look at the turn in the store', async () => {
  const fixture = await storeFixture();
  const accepted = await fixture.store.runs.accept({ ...aTurn(fixture.user, fixture.key), start: START });
  const { run } = (accepted as Extract<typeof accepted, { kind: 'accepted' }>).claim!;
  const reads: number[] = [];
  const get = (...of: [number, number]) => {
    reads.push(of[0]);
    return fixture.store.turns.get(...of);
  };
  const { buildBrief, catalog } = executorParts(fixture, {}, { get });
  const resolved = resolveModel(catalog(), 'scripted')!;
  const { fresh: _, ...resumed } = run;
  const built = await buildBrief(run, resolved);
  expect([built.ok, reads]).toEqual([true, []]);
  expect(await buildBrief(resumed, resolved)).toEqual(built);
  expect(reads).toEqual([run.seq]);
});
