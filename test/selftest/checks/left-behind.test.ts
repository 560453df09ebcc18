// The checks of a self-test find what is broken in the rows and files that it left behind.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Connection from 'better-sqlite3';
import { create } from 'tar';
import { afterAll, expect, test } from 'vitest';
import { INTERRUPTED } from '../../../src/agent/conversation/history.ts';
import { blobPath } from '../../../src/files/blobs/blob-place.ts';
import { checkLeftBehind } from '../../../src/selftest/checks/left-behind.ts';
import type { Piece } from '../../../src/selftest/work/load.ts';
import { isKept } from '../../../src/selftest/promises.ts';
import { answerOf, fileOf } from '../../../src/selftest/work/scripted-model.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { aSpentCall, aStep, fenceOf, FREE, storeFixture } from '../../support/store/store-fixture.ts';

const { path, content } = fileOf(1, 0);
const SHA256 = createHash('sha256').update(content).digest('hex');

function keep(dataDir: string, bytes: Buffer) {
  const key = createHash('sha256').update(bytes).digest('hex');
  const place = blobPath(join(dataDir, 'blobs'), key);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, bytes);
  return { key, size: bytes.length };
}

const PATTERN = mkdtempSync(join(tmpdir(), 'errand-test-'));
afterAll(() => rmSync(PATTERN, { recursive: true }));

interface Done {
  readonly runId: string;
  readonly sessionId: string;
}

/** Makes a data directory in which piece 1, which writes one file, was done as it should be. */
async function makePattern(): Promise<Done> {
  const dataDir = PATTERN;
  const fixture = await storeFixture();
  const { runs, artifacts } = fixture.store;
  const accepted = await fixture.accept({ idempotencyKey: 'piece-1' });
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  const call = { id: 'call_1_0', name: 'write_file', input: { path, content } };
  await runs.recordStep(fence, aStep({ text: '', message: { role: 'assistant', content: '' }, calls: [call] }), FREE);
  const result = { step: 1, toolUseId: call.id, name: call.name, ok: true, output: '', durationMs: 1 };
  await runs.recordToolResult(fence, result);
  await runs.appendStream(fence, [
    { type: 'content_block_start', payload: { index: 0 } },
    { type: 'content_block_delta', payload: { index: 0, text: answerOf(1) } },
    { type: 'content_block_stop', payload: { index: 0 } },
  ]);
  const message = { role: 'assistant', content: '' } as const;
  await runs.recordStep(fence, aStep({ step: 2, text: answerOf(1), message }), FREE);
  // A call that broke off counts for the run, and is part of no step.
  await runs.recordUnkept(fence, { ...aSpentCall(), purpose: 'reply', outcome: 'failed' }, FREE);
  await runs.finalize(fence, { outcome: 'completed', answer: answerOf(1), stopReason: 'end_turn' });
  await runs.settle(fence);
  const workspace = join(dataDir, 'workspaces', accepted.sessionId);
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, path), content);
  const archive = keep(dataDir, create({ cwd: workspace, sync: true }, [path.slice(1)]).read()!);
  keep(dataDir, Buffer.from(content));
  const files = [{ path, size: content.length, sha256: SHA256 }];
  await artifacts.recordArtifacts(run!.seq, { files, skipped: {} });
  await artifacts.finishArtifacts(run!.seq, archive);
  fixture.change(`VACUUM INTO '${join(dataDir, 'errand.db')}'`);
  return { runId: accepted.id, sessionId: accepted.sessionId };
}

let pattern: Promise<Done> | undefined;

/** A copy of it, with what its client saw. */
async function doneWell() {
  const { runId, sessionId } = await (pattern ??= makePattern());
  const dataDir = temporaryDirectory();
  cpSync(PATTERN, dataDir, { recursive: true });
  const piece: Piece = { number: 1, runs: new Set([runId]), answer: answerOf(1), status: 'completed', refusal: null };
  const change = (sql: string) => void new Connection(join(dataDir, 'errand.db')).exec(sql).close();
  const blob = blobPath(join(dataDir, 'blobs'), SHA256);
  return { dataDir, workspace: join(dataDir, 'workspaces', sessionId), change, piece, blob };
}

type Scene = Awaited<ReturnType<typeof doneWell>>;

const brokenIn = async ({ dataDir, piece }: Pick<Scene, 'dataDir' | 'piece'>) =>
  (await checkLeftBehind(dataDir, [piece])).flatMap((finding) => (isKept(finding) ? [] : [finding.promise]));

test('what was done well keeps every promise', async () => {
  expect(await brokenIn(await doneWell())).toEqual([]);
});

test.each<[string, (scene: Scene) => void, readonly string[]]>([
  ['a run that is gone', ({ piece }) => piece.runs.add('gone'), ['accepted', 'once']],
  ['a refusal', ({ piece }) => void (piece.refusal = '500'), ['accepted']],
  ['an answer that is cut', ({ piece }) => void (piece.answer = 'Piece 1 is'), ['answers']],
  ['a gap in the journal', ({ change }) => change('DELETE FROM events WHERE stream_seq = 3'), ['journal']],
  ['a run without an end', ({ change }) => change("DELETE FROM events WHERE type = 'run.done'"), ['ended']],
  [
    'a run that failed for a reason of its own',
    ({ change }) => change(`UPDATE runs SET status = 'failed', error = '{"type":"api_error"}'`),
    ['ended', 'turns', 'steps', 'files'],
  ],
  ['tokens that do not add up', ({ change }) => change('UPDATE runs SET input_tokens = 1'), ['ledger']],
  ['a step without its tokens', ({ change }) => change('UPDATE steps SET input_tokens = 0 WHERE step = 2'), ['ledger']],
  [
    'a result that is missing',
    ({ change }) => change("UPDATE tool_calls SET state = 'waiting', output = NULL"),
    ['steps', 'ledger'],
  ],
  ['an attempt that nobody reported', ({ change }) => change('UPDATE runs SET attempt = 2'), ['resumed']],
  ['text that no step keeps', ({ change }) => change("UPDATE steps SET text = '' WHERE step = 2"), ['journal']],
  [
    'a session that is not as its last run is',
    ({ change }) => change("UPDATE sessions SET status = 'failed'"),
    ['turns'],
  ],
  ['a file that is not listed', ({ change }) => change('DELETE FROM run_artifact_files'), ['files', 'ledger']],
  ['a workspace that lost a file', ({ workspace }) => rmSync(join(workspace, path)), ['files']],
  [
    'a row that refers to nothing',
    ({ change }) => change('PRAGMA foreign_keys = OFF; UPDATE steps SET run_seq = 9 WHERE step = 2'),
    ['journal', 'steps', 'ledger', 'database'],
  ],
  ['bytes that are cut', ({ blob }) => writeFileSync(blob, 'piece'), ['files']],
])('%s is found', async (_, breakIt, promises) => {
  const scene = await doneWell();
  breakIt(scene);
  expect(await brokenIn(scene)).toEqual(promises);
});

const INTERRUPT = `UPDATE tool_calls SET ok = 0, output = '${INTERRUPTED.output}'`;

test('a file is there or not when its call was interrupted; then it is whole', async () => {
  const whole = await doneWell();
  whole.change(INTERRUPT);
  expect(await brokenIn(whole)).toEqual([]);
  writeFileSync(whole.blob, 'piece');
  expect(await brokenIn(whole)).toEqual(['files']);
  const other = await doneWell();
  other.change("UPDATE tool_calls SET ok = 0, output = 'The disk is full.'");
  other.change('DELETE FROM run_artifact_files');
  other.change('UPDATE run_artifacts SET file_count = 0');
  expect(await brokenIn(other)).toEqual(['files', 'ledger']);
  other.change(INTERRUPT);
  const findings = await checkLeftBehind(other.dataDir, [other.piece]);
  expect(findings.find(({ promise }) => promise === 'files')).toMatchObject({ problems: [] });
});

test('a promise of which nothing was seen is not kept', () => {
  expect(isKept({ promise: 'files', checked: 0, problems: [] })).toBe(false);
});
