// Submits background runs to a daemon that dies now and then, and asks of each key afterwards what became of it.
import { setTimeout as sleep } from 'node:timers/promises';
import { type DataPlace, rowsOf } from './daemon-look.ts';

export interface BackgroundTarget {
  readonly url: string;
  readonly key: string;
}

/** One submission, as often as it had to be sent. */
export interface Submission {
  readonly number: number;
  readonly target: BackgroundTarget;
  /** Run and session of each 202, such as `<run id> in <session id>`; more than one is a broken promise. */
  readonly reported: Set<string>;
  /** Requests that were sent and lost, so that it is unknown whether they were accepted. */
  lost: number;
  /** Refusals for lack of a place, each retried. */
  refused: number;
  /** The run's last state as its key returns it; null until it was collected. */
  end: string | null;
  readonly problems: string[];
}

export interface BackgroundRequest {
  readonly targets: readonly BackgroundTarget[];
  readonly count: number;
  readonly atOnce: number;
  /** What the agent is asked; the number begins at 1. */
  readonly wordsOf: (number: number) => string;
  /** How long a client waits before each submission. */
  readonly pauseMs: (number: number) => number;
}

/** The idempotency key of a submission. */
export function backgroundKeyOf(number: number): string {
  return `task-${number}`;
}

const NO_PLACE = new Set([429, 503]);
const RETRY_MS = 20;
/** Longer than any submission takes; only for one that hangs. */
const PATIENCE_MS = 600_000;
const WAITING = new Set(['queued', 'running', 'finalizing']);

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Submits all of them, each until it is answered with 202, whatever happens to the daemon meanwhile. */
export async function submitAll(request: BackgroundRequest): Promise<readonly Submission[]> {
  const { targets, count, atOnce, wordsOf, pauseMs } = request;
  const submissions = Array.from({ length: count }, (_, i): Submission => {
    const target = targets[i % targets.length]!;
    return { number: i + 1, target, reported: new Set(), lost: 0, refused: 0, end: null, problems: [] };
  });
  await inParallel(submissions, atOnce, async (submission) => {
    await sleep(pauseMs(submission.number));
    await submit(submission, wordsOf(submission.number));
  });
  return submissions;
}

/** Replays every key until its run has ended, with other words each time: bodies are not compared. */
export async function collectAll(submissions: readonly Submission[], atOnce: number): Promise<void> {
  await inParallel(submissions, atOnce, async (submission) => {
    const until = performance.now() + PATIENCE_MS;
    do {
      const status = await submit(submission, 'The same key again.');
      if (status !== undefined && !WAITING.has(status)) submission.end = status;
      else await sleep(10 * RETRY_MS);
    } while (submission.end === null && performance.now() < until);
  });
}

async function inParallel<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  // One iterator for all workers: each takes what no other has.
  const workers = Array.from({ length: atOnce }, async () => {
    for (const item of waiting) await work(item);
  });
  await Promise.all(workers);
}

/** Sends until the answer is 202; answers the run's status, or undefined when patience ended. */
async function submit(submission: Submission, words: string): Promise<string | undefined> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const reply = await post(submission, words);
    if (reply?.status === 202) return note(submission, reply);
    if (reply !== undefined && !NO_PLACE.has(reply.status)) {
      submission.problems.push(`answered ${reply.status}: ${reply.text.slice(0, 200)}`);
      return undefined;
    }
    if (reply !== undefined) submission.refused += 1;
    await sleep(RETRY_MS);
  }
  submission.problems.push('it was never answered');
  return undefined;
}

async function post(submission: Submission, words: string): Promise<Reply | undefined> {
  const { target, number } = submission;
  const body = {
    model: 'any',
    background: true,
    idempotency_key: backgroundKeyOf(number),
    background_payload: payloadOf(number),
    messages: [{ role: 'user', content: words }],
  };
  const headers = { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' };
  try {
    const answer = await fetch(`${target.url}/openapi/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    // Without a listener, nothing can have been accepted.
    if (cause?.code !== 'ECONNREFUSED') submission.lost += 1;
    return undefined;
  }
}

const payloadOf = (number: number) => Buffer.from(`payload of ${number}`).toString('base64');

interface Results {
  readonly run_id: string;
  readonly session_id: string;
  readonly status: string;
  readonly background_payload: string;
}

function note({ reported, problems, number }: Submission, { text }: Reply): string {
  const { background_results: results } = JSON.parse(text) as { background_results: Results };
  reported.add(`${results.run_id} in ${results.session_id}`);
  if (results.background_payload !== payloadOf(number)) problems.push('its payload came back altered');
  return results.status;
}

interface FoundRun {
  readonly run: string;
  readonly status: string;
  readonly idempotency_key: string;
  readonly ends: number;
}

const RUNS = `
  SELECT r.id || ' in ' || s.id AS run, r.status, r.idempotency_key,
    (SELECT count(*) FROM events e
     WHERE e.run_seq = r.seq AND e.type <> 'content_block_delta' AND e.type IN ('run.done', 'run.failed', 'run.stopped')) AS ends
  FROM runs r JOIN sessions s ON s.seq = r.session_seq`;

/**
 * Every broken promise in words: each key has one run and no run is without one, the run is the one that every 202
 * named, and it has ended once, as its key says.
 */
export function checkBackground(submissions: readonly Submission[], place: DataPlace): string[] {
  const byKey = Map.groupBy(rowsOf<FoundRun>(place, RUNS), (row) => row.idempotency_key);
  const problems = submissions.flatMap((submission) => {
    const key = backgroundKeyOf(submission.number);
    const runs = byKey.get(key) ?? [];
    byKey.delete(key);
    return [...submission.problems, ...checkOne(submission, runs)].map((words) => `${key}: ${words}`);
  });
  return [...problems, ...[...byKey.keys()].map((key) => `${key}: was run, but nobody asked for it`)];
}

function checkOne({ reported, end }: Submission, runs: readonly FoundRun[]): string[] {
  const [found] = runs;
  if (found === undefined) return ['its run is gone'];
  return [
    ...(runs.length === 1 ? [] : [`it became ${runs.length} runs`]),
    ...(reported.size === 1 && reported.has(found.run)
      ? []
      : [`its run is ${found.run}, reported was ${[...reported].join(' and ')}`]),
    ...(found.ends === 1 ? [] : [`its run has ${found.ends} terminal events`]),
    ...(end !== null && found.status === end ? [] : [`its run is ${found.status}, its key says ${end}`]),
  ];
}
