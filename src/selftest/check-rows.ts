// What the database and the files of a self-test say, read after the daemon has ended.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { INTERRUPTED } from '../agent/conversation/history.ts';
import { blobPath } from '../files/blobs/blob-place.ts';
import type { Piece } from './load.ts';
import type { Finding, PromiseName } from './promises.ts';
import { answerOf, callIdOf, fileOf, filesOf } from './scripted-model.ts';

interface RunRow {
  readonly seq: number;
  readonly id: string;
  readonly status: string;
  readonly key: string | null;
  readonly error: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const ENDS: Readonly<Record<string, string>> = {
  completed: 'run.done',
  failed: 'run.failed',
  incomplete: 'run.failed',
  canceled: 'run.stopped',
};

const RUNS = `SELECT seq, id, status, idempotency_key AS key, error, input_tokens AS inputTokens, output_tokens AS outputTokens
  FROM runs ORDER BY seq`;
/** Runs whose events are not numbered from 1 without a gap, in the order of the journal. */
const GAPS = `SELECT run_seq AS seq FROM (SELECT run_seq, stream_seq, row_number() OVER (PARTITION BY run_seq ORDER BY id) AS place
  FROM events WHERE run_seq IS NOT NULL) AS numbered WHERE stream_seq <> place GROUP BY run_seq`;
const DOUBLES = `SELECT run_seq AS seq, tool_use_id AS id FROM tool_calls GROUP BY run_seq, tool_use_id HAVING count(*) > 1`;
const UNEVEN = `SELECT r.id FROM runs r WHERE r.input_tokens <> (SELECT coalesce(sum(u.input_tokens), 0) FROM usage_records u WHERE u.run_seq = r.seq)
  OR r.output_tokens <> (SELECT coalesce(sum(u.output_tokens), 0) FROM usage_records u WHERE u.run_seq = r.seq)`;

/** Checks everything that was left behind. */
export function checkRows(dataDir: string, pieces: readonly Piece[]): Finding[] {
  const connection = new Connection(join(dataDir, 'errand.db'));
  try {
    const runs = connection.prepare(RUNS).all() as RunRow[];
    return [
      accepted(pieces, runs),
      once(pieces, runs),
      ended(connection, runs),
      journal(connection, runs),
      steps(connection, runs),
      answers(pieces),
      files(connection, runs, dataDir),
      finding(
        'ledger',
        runs.length,
        connection
          .prepare(UNEVEN)
          .pluck()
          .all()
          .map((id) => `Run ${String(id)}: its tokens do not add up.`),
      ),
      sound(connection),
    ];
  } finally {
    connection.close();
  }
}

const finding = (promise: PromiseName, checked: number, problems: readonly string[]): Finding => ({
  promise,
  checked,
  problems,
});

function accepted(pieces: readonly Piece[], runs: readonly RunRow[]): Finding {
  const known = new Map(runs.map((run) => [run.id, run]));
  const replied = pieces.filter((piece) => piece.runs.size > 0);
  const problems = pieces.flatMap((piece) => [
    ...[...piece.runs].filter((id) => !known.has(id)).map((id) => `Run ${id} was accepted, and is gone.`),
    ...(piece.refusal === null ? [] : [`Piece ${piece.number} was refused with ${piece.refusal}`]),
  ]);
  return finding('accepted', replied.length, problems);
}

function once(pieces: readonly Piece[], runs: readonly RunRow[]): Finding {
  const keys = Map.groupBy(runs, ({ key }) => key);
  const doubled = [...keys].filter(([key, of]) => key !== null && of.length > 1);
  return finding('once', keys.size, [
    ...doubled.map(([key, of]) => `${key} has ${of.length} runs.`),
    ...pieces
      .filter((piece) => piece.runs.size > 1)
      .map(({ number, runs: named }) => `Piece ${number} was replied with ${named.size} runs.`),
  ]);
}

function ended(connection: Connection.Database, runs: readonly RunRow[]): Finding {
  const last = connection.prepare('SELECT type FROM events WHERE run_seq = ? ORDER BY stream_seq DESC LIMIT 1').pluck();
  const count = connection
    .prepare("SELECT count(*) FROM events WHERE run_seq = ? AND type IN ('run.done', 'run.failed', 'run.stopped')")
    .pluck();
  const problems = runs.flatMap(({ seq, id, status, error }) => {
    if (ENDS[status] === undefined) return [`Run ${id} is still ${status}.`];
    // Only who was killed too often may fail: every fault of the script is one that is tried again.
    if (status !== 'completed' && !error?.includes('interrupted_error')) return [`Run ${id} is ${status}: ${error}`];
    if (count.get(seq) !== 1) return [`Run ${id} has ${String(count.get(seq))} ends.`];
    return last.get(seq) === ENDS[status]
      ? []
      : [`Run ${id} is ${status}, and its journal ends with ${String(last.get(seq))}.`];
  });
  return finding('ended', runs.length, problems);
}

function journal(connection: Connection.Database, runs: readonly RunRow[]): Finding {
  const gaps = connection.prepare(GAPS).pluck().all();
  return finding(
    'journal',
    runs.length,
    gaps.map((seq) => `The journal of run number ${String(seq)} has a gap.`),
  );
}

/** A run that completed has taken each of its steps once, and has a result for each call. */
function steps(connection: Connection.Database, runs: readonly RunRow[]): Finding {
  const count = connection.prepare('SELECT count(*) FROM steps WHERE run_seq = ?').pluck();
  const results = connection.prepare("SELECT count(*) FROM tool_calls WHERE run_seq = ? AND state = 'ended'").pluck();
  const doubles = connection.prepare(DOUBLES).all() as { seq: number; id: string }[];
  const completed = runs.filter(({ status }) => status === 'completed');
  const problems = completed.flatMap(({ seq, id, key }) => {
    const expected = filesOf(numberOf(key));
    const [taken, called] = [count.get(seq), results.get(seq)];
    return taken === expected + 1 && called === expected
      ? []
      : [`Run ${id} took ${String(taken)} steps and ${String(called)} calls, not ${expected + 1} and ${expected}.`];
  });
  return finding('steps', completed.length, [
    ...problems,
    ...doubles.map(({ seq, id }) => `Run number ${seq} has call ${id} twice.`),
  ]);
}

const numberOf = (key: string | null) => Number(key?.slice('piece-'.length) ?? 0);

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
function files(connection: Connection.Database, runs: readonly RunRow[], dataDir: string): Finding {
  const listed = connection.prepare('SELECT path, sha256 FROM run_artifact_files WHERE run_seq = ?');
  const interrupted = connection
    .prepare('SELECT tool_use_id FROM tool_calls WHERE run_seq = ? AND ok = 0 AND output = ?')
    .pluck();
  const problems: string[] = [];
  let checked = 0;
  for (const { seq, id, status, key } of runs) {
    if (status !== 'completed') continue;
    const hashes = new Map(
      (listed.all(seq) as { path: string; sha256: string }[]).map(({ path, sha256 }) => [path, sha256]),
    );
    const unsure = new Set(interrupted.all(seq, INTERRUPTED.output));
    for (let step = 0; step < filesOf(numberOf(key)); step += 1) {
      const { path, content } = fileOf(numberOf(key), step);
      if (!hashes.has(path) && unsure.has(callIdOf(numberOf(key), step))) continue;
      const sha256 = createHash('sha256').update(content).digest('hex');
      const blob = blobPath(join(dataDir, 'blobs'), sha256);
      checked += 1;
      if (hashes.get(path) !== sha256) problems.push(`Run ${id}: ${path} is not listed as it was written.`);
      else if (!existsSync(blob) || readFileSync(blob, 'utf8') !== content)
        problems.push(`Run ${id}: the bytes of ${path} are not whole.`);
    }
  }
  return finding('files', checked, problems);
}

function sound(connection: Connection.Database): Finding {
  const integrity = connection.pragma('integrity_check', { simple: true }) as string;
  const strangers = connection.pragma('foreign_key_check') as unknown[];
  return finding('database', 1, [
    ...(integrity === 'ok' ? [] : [`SQLite says: ${integrity}`]),
    ...(strangers.length === 0 ? [] : [`${strangers.length} rows refer to rows that do not exist.`]),
  ]);
}
