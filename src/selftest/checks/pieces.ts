// What became of the pieces of work: each was accepted once, and its answer, steps and files are those of the script.
import { createHash } from 'node:crypto';
import Connection from 'better-sqlite3';
import { INTERRUPTED } from '../../agent/conversation/history.ts';
import type { Finding, PromiseName } from '../promises.ts';
import type { Piece } from '../work/load.ts';
import { answerOf, callIdOf, fileOf, filesOf } from '../work/scripted-model.ts';
import { databaseOf, type RunRecord } from './journal-rows.ts';
import { makeReadStored, placesOf } from './stored-blobs.ts';

/** Checks what clients saw against what is stored. */
export function checkPieces(dataDir: string, pieces: readonly Piece[], records: readonly RunRecord[]): Finding[] {
  const completed = records.filter(({ run }) => run.status === 'completed');
  return [
    accepted(pieces, records),
    once(pieces, records),
    ended(records),
    steps(completed),
    answers(pieces),
    files(completed, dataDir),
  ];
}

const finding = (promise: PromiseName, checked: number, problems: readonly string[]): Finding => ({
  promise,
  checked,
  problems,
});

function accepted(pieces: readonly Piece[], records: readonly RunRecord[]): Finding {
  const known = new Set(records.map(({ run }) => run.id));
  const replied = pieces.filter((piece) => piece.runs.size > 0);
  const problems = pieces.flatMap((piece) => [
    ...[...piece.runs].filter((id) => !known.has(id)).map((id) => `Run ${id} was accepted, and is gone.`),
    ...(piece.refusal === null ? [] : [`Piece ${piece.number} was refused with ${piece.refusal}`]),
  ]);
  return finding('accepted', replied.length, problems);
}

function once(pieces: readonly Piece[], records: readonly RunRecord[]): Finding {
  const keys = Map.groupBy(records, ({ run }) => run.idempotency_key);
  const doubled = [...keys].filter(([key, of]) => key !== null && of.length > 1);
  return finding('once', keys.size, [
    ...doubled.map(([key, of]) => `${key} has ${of.length} runs.`),
    ...pieces
      .filter((piece) => piece.runs.size > 1)
      .map(({ number, runs: named }) => `Piece ${number} was replied with ${named.size} runs.`),
  ]);
}

/** Only who was killed too often may fail: every fault of the script is one that is tried again. */
function ended(records: readonly RunRecord[]): Finding {
  const failed = records.filter(
    ({ run }) => run.status !== 'completed' && run.error !== null && !run.error.includes('interrupted_error'),
  );
  return finding(
    'ended',
    records.length,
    failed.map(({ run }) => `Run ${run.id} is ${run.status}: ${run.error}`),
  );
}

/** A run that completed has taken each of its steps once, and has a result for each call. */
function steps(completed: readonly RunRecord[]): Finding {
  const problems = completed.flatMap(({ run, steps: taken, calls }) => {
    const expected = filesOf(numberOf(run));
    const called = calls.filter(({ state }) => state === 'ended').length;
    return taken.length === expected + 1 && called === expected
      ? []
      : [`Run ${run.id} took ${taken.length} steps and ${called} calls, not ${expected + 1} and ${expected}.`];
  });
  return finding('steps', completed.length, problems);
}

const numberOf = ({ idempotency_key: key }: RunRecord['run']) => Number(key?.slice('piece-'.length) ?? 0);

function answers(pieces: readonly Piece[]): Finding {
  const answered = pieces.filter(({ answer }) => answer !== null);
  const wrong = answered.filter(({ number, answer }) => answer !== answerOf(number));
  return finding(
    'answers',
    answered.length,
    wrong.map(({ number, answer }) => `Piece ${number} was answered with ${JSON.stringify(answer)}.`),
  );
}

/**
 * The files of a completed run are listed, and their bytes are those that were written. A call that was under way when the
 * daemon was killed is never repeated (D7): its file is there whole, or not at all.
 */
function files(completed: readonly RunRecord[], dataDir: string): Finding {
  const connection = new Connection(databaseOf({ dataDir }), { readonly: true });
  const listed = connection.prepare<[number], { path: string; sha256: string }>(
    'SELECT path, sha256 FROM run_artifact_files WHERE run_seq = ?',
  );
  const read = makeReadStored(connection, placesOf(dataDir));
  const problems: string[] = [];
  let checked = 0;
  for (const { run, calls } of completed) {
    const number = numberOf(run);
    const hashes = new Map(listed.all(run.seq).map(({ path, sha256 }) => [path, sha256]));
    const interrupted = calls.filter(({ ok, output }) => ok === 0 && output === INTERRUPTED.output);
    const unsure = new Set(interrupted.map(({ tool_use_id }) => tool_use_id));
    for (let step = 0; step < filesOf(number); step += 1) {
      const { path, content } = fileOf(number, step);
      if (!hashes.has(path) && unsure.has(callIdOf(number, step))) continue;
      const sha256 = createHash('sha256').update(content).digest('hex');
      checked += 1;
      if (hashes.get(path) !== sha256) problems.push(`Run ${run.id}: ${path} is not listed as it was written.`);
      else if (read(sha256)?.toString() !== content)
        problems.push(`Run ${run.id}: the bytes of ${path} are not whole.`);
    }
  }
  connection.close();
  return finding('files', checked, problems);
}
