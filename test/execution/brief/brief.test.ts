// A brief is built while the disk syncs the acceptance of its run: nothing that outlasts the run comes before the end of that.
import { expect, test } from 'vitest';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { NO_EQUIPMENT } from '../../../src/agent/port/grants.ts';
import { makeHalt } from '../../../src/domain/halt.ts';
import { type BriefParts, makeBuildBrief } from '../../../src/execution/brief/brief.ts';
import { resolveModel } from '../../../src/execution/brief/resolve-model.ts';
import { executorParts } from '../../support/agent/executor-parts.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { aStep, aTurn, fenceOf, FREE, START, storeFixture } from '../../support/store/store-fixture.ts';
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
  const building = makeBuildBrief(parts)(run!, {
    model: resolved,
    hasNotes: false,
    announces: 'first',
    off: makeHalt(),
  } as const).then(({ ok }) => did.push(ok ? 'brief' : 'refused'));
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
  const given = { model: resolved, hasNotes: false, announces: 'first', off: makeHalt() } as const;
  const built = await buildBrief(run, given);
  expect([built.ok, reads]).toEqual([true, []]);
  expect(await buildBrief(resumed, given)).toEqual(built);
  expect(reads).toEqual([run.seq]);
});

test('what agents were told of their workspace is part of the turns that they were told it in', async () => {
  const fixture = await storeFixture();
  const { store } = fixture;
  const told = async (run: ClaimedRun) => {
    const calls = [{ id: 'a', name: 'write_file', input: { path: 'x.md' } }];
    await store.runs.recordStep(fenceOf(run), aStep({ calls }), FREE);
    await store.artifacts.moveWorkspace(fenceOf(run), { here: 'there', reading: ['read_file'] });
  };
  const first = await fixture.accept();
  const [one] = await fixture.claim();
  await told(one!);
  await store.runs.end(fenceOf(one!), { outcome: 'completed', answer: '', stopReason: 'end_turn' }, {});
  await fixture.accept({ sessionId: first.sessionId });
  const [two] = await fixture.claim();
  await store.artifacts.moveWorkspace(fenceOf(two!), { here: 'here', reading: ['read_file'] });
  await told(two!);
  const { buildBrief, catalog } = executorParts(fixture, {});
  const given = {
    model: resolveModel(catalog(), 'scripted')!,
    hasNotes: true,
    announces: 'first',
    off: makeHalt(),
  } as const;
  const built = await buildBrief({ ...two!, attempt: 2 }, given);
  if (!built.ok) throw new Error(built.error.message);
  const { history, turn } = built.brief;
  expect(history[0]!.notes?.map(({ step }) => step)).toEqual([1]);
  expect(turn.notes?.map(({ step }) => step)).toEqual([1]);
  expect(turn.notes![0]!.text).toContain('- writes x.md (an earlier turn, step 1)\n- writes x.md (step 1)');
  // A summary that covers the step has nothing of the note, and no result can carry it.
  await store.compactions.record(fenceOf(two!), { step: 1, summary: 'All of it.', characters: 10 });
  const after = await buildBrief({ ...two!, attempt: 2 }, given);
  expect(after.ok && after.brief.turn.notes?.map(({ step }) => step)).toEqual([0]);
});
