// What the model does in each turn: a pure function of seed and number, known alike to the model server and the checks.
import { makeChance, type Chance } from '../../../src/selftest/storm/chance.ts';

/** A tool call. Each shell call leaves its token in the workspace, so that a second execution can be seen. */
export interface PlannedCall {
  readonly name: 'shell' | 'write_file';
  readonly input: Readonly<Record<string, string>>;
  /** What the call writes to `TRACE_FILE`, with a name of its execution; null when it leaves no trace. */
  readonly token: string | null;
}

/** How the model server misbehaves at the first calls of one step; `times` null means forever. */
export interface PlannedFault {
  readonly step: number;
  readonly kind: 'status' | 'refuse' | 'cut';
  readonly status: number;
  readonly times: number | null;
}

export interface TurnPlan {
  readonly number: number;
  /** Calls of each model reply before the last one. */
  readonly steps: readonly (readonly PlannedCall[])[];
  readonly answer: { readonly deltas: readonly string[]; readonly everyMs: number; readonly firstMs: number };
  readonly fault: PlannedFault | null;
  /** Its answer ends the thread that carries it, each time. */
  readonly poisoned: boolean;
  /** Text sent as a file with the user's words; null for none. */
  readonly attachment: string | null;
}

/** What both sides derive the same plans from. */
export interface PlanRules {
  readonly seed: number;
  /** Part of every `sleep`, so that its processes can be distinguished from all others on the machine. */
  readonly marker: string;
  readonly shell: boolean;
}

/** The text at which `worker-fault.mjs` ends a thread. */
const POISON = 'arsenic';
/** One in this many turns is poisoned. */
const POISONED = 20;

export const TRACE_FILE = 'trace';
export const ENDS_FILE = 'trace-ends';

/** From here on, numbers are of steps of scheduled tasks. */
export const FIRST_SCHEDULED = 1_000_000;
/** What each step of a scheduled task writes first: a page in a folder of its own. */
export const SITE_ENTRY = '/site/index.html';
/** Steps with the same remainder leave the same file, so that its blob is shared. */
const SITE_PARTS = 5;
/** The largest are blobs of their own, the others are rows. */
const SITE_PART_LINES = 3_000;

/** The text of the page that a step leaves. */
export function siteTextOf(number: number): string {
  return `<!doctype html><title>Piece ${number}</title>\n`;
}

/** Names a turn in the user's words; everything else about it follows from the number. */
export function wordsOf(number: number): string {
  return `Please do piece ${number} of the work.`;
}

/** The number of the turn that a text names; undefined when it names none. */
export function numberIn(text: string): number | undefined {
  const found = /Please do piece (\d+) of the work\./.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Tokens that the model server reports for a step. */
export function usageOf(number: number, step: number): { readonly input: number; readonly output: number } {
  return { input: 100 + 10 * step + (number % 10), output: 5 + (number % 50) };
}

/** The plan of a turn. */
export function planOf(rules: PlanRules, number: number): TurnPlan {
  const chance = makeChance(rules.seed * 1_000_003 + number);
  const count = chance.pick([0, 0, 1, 1, 2, 3]);
  const site = number < FIRST_SCHEDULED ? [] : [siteCalls(number)];
  const others = Array.from({ length: count }, (_, step) => callsOf(rules, number, site.length + step, chance));
  const steps = [...site, ...others];
  const answer = answerOf(number, chance);
  const fault = faultOf(steps.length, chance);
  const attachment = chance.oneIn(6) ? `Paper for piece ${number}.\n`.repeat(chance.between(1, 2_000)) : null;
  const poisoned = chance.oneIn(POISONED);
  return poisoned
    ? { number, steps, answer: { ...answer, deltas: [...answer.deltas, POISON] }, fault: null, poisoned, attachment }
    : { number, steps, answer, fault, poisoned, attachment };
}

function siteCalls(number: number): PlannedCall[] {
  const part = number % SITE_PARTS;
  const files = [
    { path: SITE_ENTRY.slice(1), content: siteTextOf(number) },
    { path: `site/parts/${part}.txt`, content: `Part ${part}.\n`.repeat(part * SITE_PART_LINES + 1) },
  ];
  return files.map((input) => ({ name: 'write_file', input, token: null }));
}

function callsOf(rules: PlanRules, number: number, step: number, chance: Chance): PlannedCall[] {
  return Array.from({ length: chance.pick([1, 1, 1, 2]) }, (_, position) => {
    const token = `${number}.${step}.${position}`;
    if (rules.shell && !chance.oneIn(3)) return shellCall(rules, token, chance);
    const content = `Piece ${token}.\n`.repeat(chance.pick([1, 50, 5_000, 10_000]));
    return {
      name: 'write_file',
      input: { path: `${chance.pick(['', 'deep/er/'])}${token}.txt`, content },
      token: null,
    };
  });
}

function shellCall({ marker }: PlanRules, token: string, chance: Chance): PlannedCall {
  const pause = chance.pick(['0.0', '0.0', '0.05', '0.2', '0.4']);
  // Each execution has a name: a workspace that is laid out elsewhere has its line again, and the same one.
  const command = `line="${token} $$-$(date +%s%N)"; echo $line >>${TRACE_FILE}; sleep ${pause}${marker}; echo $line >>${ENDS_FILE}`;
  return { name: 'shell', input: { command }, token };
}

function answerOf(number: number, chance: Chance): TurnPlan['answer'] {
  const count = chance.pick([1, 1, 4, 20, 40]);
  const deltas = Array.from({ length: count }, (_, i) => `${number}:${i}${chance.pick([' ', '\n', ' ü—🦔 '])}`);
  return { deltas, everyMs: count === 1 ? 0 : chance.pick([0, 1, 5, 15]), firstMs: chance.pick([0, 0, 50, 200]) };
}

function faultOf(steps: number, chance: Chance): PlannedFault | null {
  if (!chance.oneIn(6)) return null;
  const step = chance.between(0, steps);
  const kind = chance.pick(['status', 'status', 'refuse', 'cut'] as const);
  // A rejected request is the caller's mistake and is never retried; the other faults pass.
  const status = chance.pick([400, 429, 500, 503]);
  return { step, kind, status, times: kind === 'status' && status === 400 ? null : 1 };
}
