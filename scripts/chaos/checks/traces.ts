// Compares what the tools left on disk with their calls in the database, and finds what must not be left at all.
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import type { CallRow, RunRecord, StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import { makeReadStored, type Places } from '../../../src/selftest/checks/stored-blobs.ts';
import type { AuditLine } from '../model/audit.ts';
import {
  ENDS_FILE,
  FIRST_SCHEDULED,
  numberIn,
  planOf,
  type PlanRules,
  TRACE_FILE,
  type TurnPlan,
  usageOf,
} from '../model/plan.ts';

const TEMPORARY = /^\.errand-tmp-/;
const INTERRUPTED = /^Interrupted, outcome unknown/;
/** What an attempt at another node is told of its workspace. */
const OF_WORKSPACE = /\n\nNote: your workspace had to be restored[^]*?Look at what is there before you rely on it\./g;

/** The number of a run's turn. */
export function numberOf({ messages }: RunRecord): number {
  return numberIn(messages.find(({ role }) => role === 'user')?.content ?? '') ?? -1;
}

/** Checks each session's workspace, the blobs, and that no half-written file is left. */
export async function checkDisk(rules: PlanRules, places: Places, facts: StoredFacts, file: string): Promise<string[]> {
  const { dataDirs, workspacesOf } = places;
  const problems: string[] = [];
  for (const [sessionId, records] of Map.groupBy(facts.records, ({ run }) => run.session_id)) {
    const home = workspacesOf(records[0]!.run.workspace_node);
    const others = dataDirs.filter((dataDir) => dataDir !== home);
    const workspaces = [home, ...others].map((dataDir) => join(dataDir, 'workspaces', sessionId));
    const [traces, ends] = await Promise.all([TRACE_FILE, ENDS_FILE].map((name) => countExecutions(workspaces, name)));
    const expected = new Set<string>();
    for (const record of records)
      problems.push(
        ...checkTraces(rules, record, { traces: traces!, ends: ends!, expected, isAlone: others.length === 0 }),
      );
    for (const token of traces!.anywhere.keys())
      if (!expected.has(token)) problems.push(`session ${sessionId}: ${token} was run, but no call says so`);
  }
  for (const sessionId of new Set(facts.erased.map(({ run }) => run.session_id)))
    for (const dataDir of dataDirs)
      if (existsSync(join(dataDir, 'workspaces', sessionId)))
        problems.push(`session ${sessionId} was deleted, its workspace in ${dataDir} was not`);
  for (const dataDir of dataDirs) problems.push(...(await checkHalfWritten(dataDir)));
  return [...problems, ...(await checkAttachments(places, facts, file))];
}

async function checkHalfWritten(dataDir: string): Promise<string[]> {
  const paths = await readdir(join(dataDir, 'workspaces'), { recursive: true }).catch(() => []);
  const left = paths.filter((path) => TEMPORARY.test(path.split('/').at(-1)!));
  const incoming = await readdir(join(dataDir, 'blobs', 'incoming')).catch(() => []);
  return [
    ...left.map((path) => `half-written file left: ${path}`),
    ...incoming.map((name) => `half-written blob left: ${name}`),
  ];
}

/** How often each token was executed, as far as the workspaces of a session show it. */
interface Executions {
  /** In the one that has the session's files now. */
  readonly here: ReadonlyMap<string, number>;
  /** In any of them: one that was laid out anew has lines of the others. */
  readonly anywhere: ReadonlyMap<string, number>;
}

/** `workspaces`: the one that has the session's files now comes first. */
async function countExecutions(workspaces: readonly string[], name: string): Promise<Executions> {
  const texts = await Promise.all(workspaces.map((folder) => readFile(join(folder, name), 'utf8').catch(() => '')));
  const count = (of: readonly string[]) => {
    const lines = new Set(of.flatMap((text) => text.split('\n')).filter((line) => line !== ''));
    const counts = new Map<string, number>();
    for (const [token = ''] of [...lines].map((line) => line.split(' ')))
      counts.set(token, (counts.get(token) ?? 0) + 1);
    return counts;
  };
  return { here: count(texts.slice(0, 1)), anywhere: count(texts) };
}

interface Traces {
  readonly traces: Executions;
  readonly ends: Executions;
  /** Gets the tokens that a recorded call accounts for. */
  readonly expected: Set<string>;
  /** Whether the session has one workspace. */
  readonly isAlone: boolean;
}

/** A call with a result ran once; one whose outcome is unknown at most once; one that never began not at all. */
function checkTraces(rules: PlanRules, record: RunRecord, { traces, ends, expected, isAlone }: Traces): string[] {
  const { run } = record;
  const plan = planOf(rules, numberOf(record));
  // The workspace of a node that was lost has what its last run did; the next one begins with what was recorded before.
  const isKept = isAlone || (run.attempt === 1 && run.artifact_status === 'ready');
  return record.calls.flatMap((call) => {
    const planned = plan.steps[call.step - 1]?.[call.position];
    if (planned === undefined) return [`run ${run.seq}: a call that was not planned (step ${call.step})`];
    if (planned.token === null) return [];
    expected.add(planned.token);
    const timesIn = (of: 'here' | 'anywhere') =>
      [traces, ends].map((executions) => executions[of].get(planned.token!) ?? 0) as [number, number];
    const [least, most] = timesOf(call);
    const [[began, ended], [beganHere, endedHere]] = [timesIn('anywhere'), timesIn('here')];
    const isThere = !isKept || (beganHere >= least && endedHere >= least);
    if (isThere && began <= most && ended <= began) return [];
    const seen = `${planned.token} began ${began} (${beganHere} here) and ended ${ended} (${endedHere} here) times`;
    return [`run ${run.seq}, attempt ${run.attempt}: ${seen}; its call is ${call.state}, ${call.output}`];
  });
}

function timesOf({ state, ok, output }: CallRow): readonly [number, number] {
  if (state === 'waiting') return [0, 0];
  if (state === 'ended' && ok === 1) return [1, 1];
  return state === 'running' || INTERRUPTED.test(output ?? '') ? [0, 1] : [1, 1];
}

async function checkAttachments(places: Places, { attachments }: StoredFacts, file: string): Promise<string[]> {
  const connection = new Connection(file, { readonly: true });
  const read = makeReadStored(connection, places);
  const checked = attachments.map(async ({ sha256, session_id, workspace_node, workspace_path }) => {
    const blob = read(sha256);
    if (blob === null) return [`the blob ${sha256} of session ${session_id} is gone`];
    if (createHash('sha256').update(blob).digest('hex') !== sha256) return [`the blob ${sha256} is damaged`];
    const path = join(places.workspacesOf(workspace_node), 'workspaces', session_id, workspace_path);
    const stored = await readFile(path).catch(() => null);
    return stored?.equals(blob) === false ? [`${workspace_path} of session ${session_id} is damaged`] : [];
  });
  const problems = (await Promise.all(checked)).flat();
  connection.close();
  return problems;
}

/** Checks what the model was shown: whole turns in order, no duplicates, and the recorded result of each call. */
export function checkAudit(lines: readonly AuditLine[], facts: StoredFacts): string[] {
  const byNumber = Map.groupBy(facts.records, numberOf);
  const unknown = new Set(lines.map(({ number }) => number).filter((number) => !byNumber.has(number)));
  return lines.flatMap((line) => {
    const records = byNumber.get(line.number) ?? [];
    // Runs of deleted sessions no longer show their number.
    if (records.length === 0 && unknown.size <= facts.erased.length) return [];
    if (records.length === 0) return [`the model was called for ${line.number}, which has no run`];
    // A task may fire by the clock twice before it gets other steps: then one of its runs has asked. No client sends a turn twice.
    const asking = line.number < FIRST_SCHEDULED ? records.slice(0, 1) : records;
    const found = asking.map((record) => checkLine(line, record, facts));
    return found.find((problems) => problems.length === 0) ?? found[0]!;
  });
}

function checkLine(line: AuditLine, record: RunRecord, facts: StoredFacts): string[] {
  const earlier = facts.records.filter(
    ({ run }) => run.session_seq === record.run.session_seq && run.seq <= record.run.seq,
  );
  const turns = earlier.map(numberOf).slice(-line.turns.length);
  const problems = line.faults.map((fault) => fault);
  if (line.turns.join() !== turns.join()) problems.push(`it was shown turns ${line.turns.join()}, not ${turns.join()}`);
  if (line.shown.length !== line.step) problems.push(`it was shown ${line.shown.length} replies`);
  problems.push(...line.shown.flatMap((calls, i) => checkShown(record, i + 1, calls)));
  return problems.map((words) => `model call of ${line.number}, step ${line.step}: ${words}`);
}

function checkShown(record: RunRecord, step: number, replies: AuditLine['shown'][number]): string[] {
  const calls = record.calls.filter((call) => call.step === step);
  const recorded = calls.map(({ name, output }) => `${name}: ${output}`).join('\n');
  const results = replies.map(({ name, result }) => `${name}: ${result}`).join('\n');
  // Told at an attempt of its own, and recorded nowhere.
  const shown = record.run.attempt > 1 ? results.replaceAll(OF_WORKSPACE, '') : results;
  return recorded === shown ? [] : [`of step ${step} it was shown "${shown}", recorded is "${recorded}"`];
}

/** Checks that each step holds what the plan made the model say: calls, text and tokens. */
export function checkPlans(rules: PlanRules, facts: StoredFacts): string[] {
  return facts.records.flatMap((record) => {
    const number = numberOf(record);
    const plan = planOf(rules, number);
    return record.steps.flatMap(({ step, text, input_tokens, output_tokens }) => {
      const planned = plan.steps[step - 1];
      const usage = usageOf(number, step - 1);
      const names = record.calls.filter((call) => call.step === step).map(({ name }) => name);
      const words = planned === undefined ? plan.answer.deltas.join('') : `Step ${step - 1} of ${number}. `;
      const isRight =
        text === words &&
        names.join() === (planned ?? []).map(({ name }) => name).join() &&
        (isCutAtItsEnd(plan, step) || (input_tokens === usage.input && output_tokens === usage.output));
      return isRight ? [] : [`run ${record.run.seq}: step ${step} is not what the model said`];
    });
  });
}

/** An answer of one delta is cut after its end, where the usage would have followed: that is estimated. */
function isCutAtItsEnd({ fault, steps, answer }: TurnPlan, step: number): boolean {
  return fault?.kind === 'cut' && fault.step === step - 1 && step > steps.length && answer.deltas.length === 1;
}
