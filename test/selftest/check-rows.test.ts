// The checks of a self-test find what is broken in the rows and files that it left behind.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { INTERRUPTED } from '../../src/agent/conversation/history.ts';
import { blobPath } from '../../src/files/blobs/blob-place.ts';
import { checkRows } from '../../src/selftest/check-rows.ts';
import type { Piece } from '../../src/selftest/load.ts';
import { isKept } from '../../src/selftest/promises.ts';
import { answerOf, fileOf } from '../../src/selftest/scripted-model.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { aStep, fenceOf, FREE, storeHouse } from '../support/store/store-house.ts';

const { path, content } = fileOf(1, 0);
const SHA256 = createHash('sha256').update(content).digest('hex');

/** A data directory in which piece 1, which writes one file, was done as it should be. */
async function doneWell() {
  const dataDir = temporaryDirectory();
  const house = await storeHouse(join(dataDir, 'errand.db'));
  const accepted = await house.accept({ idempotencyKey: 'piece-1' });
  const [run] = await house.claim();
  const fence = fenceOf(run!);
  const call = { id: 'call_1_0', name: 'write_file', input: { path, content } };
  await house.store.runs.recordStep(fence, aStep({ calls: [call] }), FREE);
  const result = { step: 1, toolUseId: call.id, name: call.name, ok: true, output: '', durationMs: 1 };
  await house.store.runs.recordToolResult(fence, result);
  await house.store.runs.recordStep(fence, aStep({ step: 2, text: answerOf(1) }), FREE);
  await house.store.runs.finalize(fence, { outcome: 'completed', answer: answerOf(1), stopReason: 'end_turn' });
  await house.store.runs.settle(fence);
  house.change(`INSERT INTO run_artifact_files (run_seq, path, state, size, sha256)
    VALUES (${accepted.seq}, '${path}', 'added', ${content.length}, '${SHA256}')`);
  const blob = blobPath(join(dataDir, 'blobs'), SHA256);
  mkdirSync(dirname(blob), { recursive: true });
  writeFileSync(blob, content);
  const piece: Piece = {
    number: 1,
    runs: new Set([accepted.id]),
    answer: answerOf(1),
    status: 'completed',
    refusal: null,
  };
  return { ...house, dataDir, piece, blob };
}

type Scene = Awaited<ReturnType<typeof doneWell>>;

const brokenIn = ({ dataDir, piece }: Pick<Scene, 'dataDir' | 'piece'>, pieces = [piece]) =>
  checkRows(dataDir, pieces).flatMap((finding) => (isKept(finding) ? [] : [finding.promise]));

test('what was done well keeps every promise', async () => {
  expect(brokenIn(await doneWell())).toEqual([]);
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
    ['ended', 'steps', 'files'],
  ],
  ['tokens that do not add up', ({ change }) => change('UPDATE runs SET input_tokens = 1'), ['ledger']],
  [
    'a result that is missing',
    ({ change }) => change("UPDATE tool_calls SET state = 'waiting', output = NULL"),
    ['steps'],
  ],
  ['a file that is not listed', ({ change }) => change('DELETE FROM run_artifact_files'), ['files']],
  ['bytes that are cut', ({ blob }) => writeFileSync(blob, 'piece'), ['files']],
])('%s is found', async (_, breakIt, promises) => {
  const scene = await doneWell();
  breakIt(scene);
  expect(brokenIn(scene)).toEqual(promises);
});

const INTERRUPT = `UPDATE tool_calls SET ok = 0, output = '${INTERRUPTED.output}'`;

test('a file is there or not when its call was interrupted; then it is whole', async () => {
  const whole = await doneWell();
  whole.change(INTERRUPT);
  expect(brokenIn(whole)).toEqual([]);
  writeFileSync(whole.blob, 'piece');
  expect(brokenIn(whole)).toEqual(['files']);
  const other = await doneWell();
  other.change("UPDATE tool_calls SET ok = 0, output = 'The disk is full.'");
  other.change('DELETE FROM run_artifact_files');
  expect(brokenIn(other)).toEqual(['files']);
  other.change(INTERRUPT);
  const findings = checkRows(other.dataDir, [other.piece]);
  expect(findings.find(({ promise }) => promise === 'files')).toMatchObject({ problems: [] });
});

test('a promise of which nothing was seen is not kept', () => {
  expect(isKept({ promise: 'files', checked: 0, problems: [] })).toBe(false);
});
