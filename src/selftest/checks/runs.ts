// What must hold for each run, and for the runs of a session together, however often the daemon died.
import type { Finding, PromiseName } from '../promises.ts';
import type { EventRow, RunRecord, StoredFacts } from './journal-rows.ts';
import { checkCopies, checkStream } from './texts.ts';

type Payload = Record<string, never>;

const TERMINAL: Readonly<Record<string, string>> = {
  completed: 'run.done',
  failed: 'run.failed',
  incomplete: 'run.failed',
  canceled: 'run.stopped',
};
const TERMINAL_TYPES = new Set(Object.values(TERMINAL));
const MAX_RESUMES = 2;

/** What is looked at in each run alone, by promise. */
const OF_EACH: Readonly<Partial<Record<PromiseName, readonly ((record: RunRecord) => string[])[]>>> = {
  ended: [checkEnd],
  journal: [checkJournal, checkBlocks, checkStream],
  resumed: [checkAttempts],
  steps: [checkCalls, checkMessages, checkCopies],
  ledger: [checkUsage],
};

/** Every violation in words, by promise. It needs no knowledge of what the runs were asked to do. */
export function checkRuns(facts: StoredFacts): Finding[] {
  const { records, erased } = facts;
  const ofEach = typedEntries(OF_EACH).map(([promise, checks]) => {
    const problems = records.flatMap((record) =>
      checks.flatMap((check) => check(record)).map((words) => `${nameOf(record)}: ${words}`),
    );
    return { promise, checked: records.length, problems };
  });
  const others: readonly Finding[] = [
    { promise: 'turns', checked: facts.sessions.length, problems: checkSessions(facts) },
    {
      promise: 'database',
      checked: 1,
      problems: [...facts.faults, ...facts.remains, ...erased.flatMap(checkErased)],
    },
  ];
  return [...ofEach, ...others];
}

const typedEntries = <K extends string, V>(of: Partial<Record<K, V>>) => Object.entries(of) as [K, V][];

const nameOf = ({ run }: RunRecord): string => `run ${run.seq} (${run.id}, ${run.status})`;
const payloadOf = <T = Payload>(event: EventRow): T => JSON.parse(event.payload) as T;
const ofType = ({ events }: RunRecord, type: string) => events.filter((event) => event.type === type);

/** A run of a deleted session keeps its end and its usage, and no text. */
function checkErased(record: RunRecord): string[] {
  const { run, events, steps, calls, messages } = record;
  const isBlank =
    events.length + calls.length === 0 &&
    run.own_answer === null &&
    (run.error === null || (JSON.parse(run.error) as { message: string }).message === '') &&
    steps.every(({ text, message }) => text === '' && message === 'null') &&
    messages.every(({ content, text_preview }) => content === '[]' && text_preview === '');
  return [
    ...(TERMINAL[run.status] === undefined ? ['it never ended'] : []),
    ...(isBlank ? [] : ['its session was deleted, and not all of its texts']),
    ...checkUsage(record),
  ].map((words) => `${nameOf(record)}: ${words}`);
}

function checkEnd({ run, events }: RunRecord): string[] {
  const expected = TERMINAL[run.status];
  if (expected === undefined) return ['it never ended'];
  const ends = events.filter(({ type }) => TERMINAL_TYPES.has(type));
  if (ends.length !== 1) return [`it has ${ends.length} terminal events`];
  if (ends[0]?.type !== expected) return [`its terminal event is ${ends[0]?.type}`];
  return ends[0] === events.at(-1) ? [] : ['something follows its terminal event'];
}

function checkJournal({ events }: RunRecord): string[] {
  const problems: string[] = [];
  for (const [i, event] of events.entries()) {
    if (event.stream_seq !== i + 1) problems.push(`its stream has ${event.stream_seq} in place ${i + 1}`);
    if (i > 0 && event.id <= events[i - 1]!.id) problems.push(`event ${event.id} lies out of order`);
  }
  if (events[0]?.type !== 'run.queued') problems.push('its first event is not run.queued');
  return problems;
}

/** Blocks count up from 0, none overlaps another, and each is closed. */
function checkBlocks({ events }: RunRecord): string[] {
  const problems: string[] = [];
  let open: number | null = null;
  let next = 0;
  for (const event of events) {
    if (!event.type.startsWith('content_block')) continue;
    const { index } = payloadOf<{ index: number }>(event);
    if (event.type === 'content_block_start') {
      if (open !== null || index !== next) problems.push(`block ${index} starts where ${open ?? next} was due`);
      open = index;
      next = index + 1;
    } else if (index !== open) problems.push(`${event.type} of block ${index} while ${open ?? 'none'} is open`);
    if (event.type === 'content_block_stop') open = null;
  }
  return open === null ? problems : [...problems, `block ${open} was never closed`];
}

function checkAttempts(record: RunRecord): string[] {
  const { run, steps } = record;
  const problems: string[] = [];
  const started = ofType(record, 'run.started').map((event) => payloadOf<{ attempt: number }>(event).attempt);
  const resumed = ofType(record, 'run.resumed').map((event) => payloadOf<{ resumes: number }>(event).resumes);
  if (run.resumes > MAX_RESUMES) problems.push(`it was resumed ${run.resumes} times`);
  if (started.join() !== upTo(run.attempt).join())
    problems.push(`attempts ${started.join()} of ${run.attempt} started`);
  // A resume that isn't charged reports the same number again.
  const isInSteps = resumed.every((resumes, i) => [0, 1].includes(resumes - (resumed[i - 1] ?? 0)));
  if (!isInSteps || (resumed.at(-1) ?? 0) !== run.resumes)
    problems.push(`resumes ${resumed.join()} of ${run.resumes} are reported`);
  if (run.attempt > resumed.length + 1) problems.push(`${run.attempt} attempts for ${resumed.length} resumes`);
  const attempts = steps.map(({ attempt }) => attempt);
  if (attempts.some((attempt, i) => attempt > run.attempt || attempt < (attempts[i - 1] ?? 1)))
    problems.push(`its steps are of attempts ${attempts.join()}`);
  if (steps.some(({ step }, i) => step !== i + 1)) problems.push('its steps have a gap');
  const error = run.error === null ? null : (JSON.parse(run.error) as { type: string; retryable: boolean });
  if (error?.type === 'interrupted_error' && (run.resumes !== MAX_RESUMES || !error.retryable))
    problems.push(`it was given up after ${run.resumes} resumes: ${run.error}`);
  return problems;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

function checkUsage({ run, steps }: RunRecord): string[] {
  const total = (name: 'input_tokens' | 'output_tokens') => steps.reduce((sum, step) => sum + step[name], 0);
  return (['input_tokens', 'output_tokens'] as const).flatMap((name) =>
    run[`kept_${name}`] === total(name)
      ? []
      : [`${name} of its replies is ${run[`kept_${name}`]}, its steps add up to ${total(name)}`],
  );
}

function checkCalls(record: RunRecord): string[] {
  const { run, calls } = record;
  const problems: string[] = [];
  const ids = calls.map((call) => call.tool_use_id);
  if (new Set(ids).size < ids.length) problems.push(`its calls share an id: ${ids.join()}`);
  const idsOf = (type: string) =>
    ofType(record, type).map((event) => payloadOf<{ toolUseId: string }>(event).toolUseId);
  if (idsOf('tool_use').join() !== ids.join()) problems.push('its tool_use events are not its calls');
  const ended = calls.filter(({ state }) => state === 'ended').map((call) => call.tool_use_id);
  if (idsOf('tool_result').join() !== ended.join()) problems.push('its tool_result events are not its results');
  const open = calls.filter(({ state }) => state !== 'ended');
  if (run.status === 'completed' && open.length > 0) problems.push('it completed with a call that has no result');
  const lastStep = record.steps.length;
  if (open.some(({ step }) => step < lastStep)) problems.push('a later step began before a call had its result');
  return problems;
}

function checkMessages({ run, steps, messages }: RunRecord): string[] {
  const problems: string[] = [];
  const assistants = messages.filter(({ role }) => role === 'assistant');
  if (messages.filter(({ role }) => role === 'user').length !== 1) problems.push('it has not one user message');
  const wanted = run.status === 'completed' || steps.length > 0 ? 1 : 0;
  if (assistants.length !== wanted) problems.push(`it has ${assistants.length} assistant messages, not ${wanted}`);
  return problems;
}

/** The status of a session by its last run, where the names differ. */
const SESSION_STATUS: Readonly<Record<string, string>> = { canceled: 'stopped', incomplete: 'failed' };

/** Runs of a session start in the order of acceptance, each after the one before has ended. */
function checkSessions({ records, sessions }: StoredFacts): string[] {
  const problems: string[] = [];
  const bySession = Map.groupBy(records, ({ run }) => run.session_seq);
  for (const { seq, id, status, deleted, stopping } of sessions) {
    if (stopping === 1) problems.push(`session ${id}: a stop was never confirmed`);
    if (deleted === 1) continue;
    const runs = bySession.get(seq) ?? [];
    let endedAt = 0;
    for (const { run, events } of runs) {
      const startedAt = events.find(({ type }) => type === 'run.started')?.id;
      if (startedAt !== undefined && startedAt < endedAt)
        problems.push(`session ${id}: run ${run.seq} started before the one before it had ended`);
      endedAt = events.at(-1)?.id ?? endedAt;
    }
    const last = runs.at(-1)?.run.status ?? '';
    const expected = SESSION_STATUS[last] ?? last;
    if (runs.length === 0) problems.push(`session ${id} has no run`);
    else if (status !== expected) problems.push(`session ${id} is ${status}, its last run ${last}`);
  }
  return problems;
}
