// Makes the time line of a run from its rows: one walk through its journal, with the ledger's calls in their places.
import { activityOf } from '../activity.ts';
import { plainName } from './plain-name.ts';
import { type Calls, type Draft, takeCalls } from './model-calls.ts';
import type { Milestone, MilestoneType, TimelineRows, ToolRow } from './rows.ts';
import { MAX_SPANS, type Span, type SpanFacts, type Timeline } from './timeline.ts';

/** Makes the time line. Pure: the same rows make the same spans. */
export function makeTimeline(rows: TimelineRows): Timeline {
  const calls = takeCalls(rows.calls);
  const hasJournal = rows.milestones[0]?.type === 'run.queued';
  const walk = hasJournal ? walkThrough(rows, calls) : withoutJournal(rows);
  calls.placeRest(walk.spans);
  addAftermath(walk.spans, rows);
  const { spans, isCut } = ordered(walk.spans);
  const isCoarse = rows.calls.some(({ timing, outcome }) => timing === null && outcome !== 'lost');
  return {
    run: rows.run,
    spans,
    detail: hasJournal ? (isCoarse ? 'coarse' : 'complete') : 'removed',
    truncated: isCut || rows.truncated,
  };
}

interface Walk {
  readonly rows: TimelineRows;
  readonly tools: ReadonlyMap<string, ToolRow>;
  readonly calls: Calls;
  readonly spans: Draft[];
  /** The step of each tool call. */
  readonly steps: Map<string, number>;
  /** When the last thing was recorded. */
  at: number;
  queue: Draft | null;
  prepare: Draft | null;
  question: Draft | null;
  finish: Draft | null;
  /** When the first text since then was recorded; null while there is none. */
  textAt: number | null;
}

const draft = (facts: SpanFacts, startedAt: number, endedAt: number | null = null): Draft => ({
  ...facts,
  startedAt: endedAt === null ? startedAt : Math.min(startedAt, endedAt),
  endedAt,
  whole: null,
});

function walkThrough(rows: TimelineRows, calls: Calls): Walk {
  const walk = beginning(rows, calls);
  for (const milestone of rows.milestones) {
    (READERS[milestone.type] as (walk: Walk, milestone: Milestone) => void)(walk, milestone);
    // A text belongs to the step that is recorded after it.
    if (milestone.type !== 'content_block_start') walk.at = Math.max(walk.at, milestone.at);
  }
  if (rows.run.finishedAt === null) addUnderWay(walk);
  return walk;
}

function beginning(rows: TimelineRows, calls: Calls): Walk {
  const at = rows.run.createdAt;
  const none = { queue: null, prepare: null, question: null, finish: null, textAt: null };
  // Of several with an id, the first counts.
  const tools = new Map(rows.tools.toReversed().map((row) => [row.toolUseId, row]));
  return { rows, tools, calls, spans: [], steps: new Map(), at, ...none };
}

function open(walk: Walk, facts: SpanFacts, startedAt: number): Draft {
  const span = draft(facts, startedAt);
  walk.spans.push(span);
  return span;
}

function close(span: Draft | null, at: number): null {
  if (span !== null) span.endedAt = Math.max(span.startedAt, at);
  return null;
}

type Readers = {
  readonly [T in MilestoneType]: (walk: Walk, milestone: Extract<Milestone, { type: T }>) => void;
};

const READERS: Readers = {
  'run.queued': (walk, { at }) => void (walk.queue = openQueue(walk, at)),
  'run.started': (walk, { at, payload }) => {
    endQueue(walk, at, payload.fullSlots ?? null);
    walk.prepare = open(walk, { kind: 'prepare', attempt: payload.attempt }, at);
    walk.textAt = null;
  },
  content_block_start: (walk, { at }) => void (walk.textAt ??= at),
  'run.step': (walk, { at, payload }) => {
    const times = { since: walk.at, at, textAt: walk.textAt };
    const span = walk.calls.reply(payload, times, walk.rows.run.model ?? '');
    walk.prepare = close(walk.prepare, span.startedAt);
    walk.spans.push(span);
    for (const { id } of payload.calls) walk.steps.set(id, payload.step);
    walk.textAt = null;
  },
  tool_result: (walk, { at, payload: { toolUseId, name, ok, durationMs } }) => {
    const tool = walk.tools.get(toolUseId);
    const step = tool?.step ?? walk.steps.get(toolUseId) ?? 0;
    const facts = { kind: 'tool', step, ...namesOf({ toolUseId, name }), agent: agentOf(tool, walk.rows), ok } as const;
    walk.spans.push(draft(facts, at - durationMs, at));
  },
  'run.compacted': (walk, { at, payload: { step, characters } }) => {
    const call = walk.calls.summary(at);
    const compaction = draft({ kind: 'compaction', step, characters }, call?.startedAt ?? walk.at, at);
    walk.prepare = close(walk.prepare, compaction.startedAt);
    walk.spans.push(compaction);
    if (call !== null) walk.spans.push(Object.assign(call, { whole: compaction }));
  },
  'user_input.requested': (walk, { at, payload: { requestId } }) => {
    walk.prepare = close(walk.prepare, at);
    walk.question = open(walk, { kind: 'question', requestId, outcome: null }, at);
  },
  'user_input.answered': (walk, { at }) => settleQuestion(walk, at, 'answered'),
  'user_input.expired': (walk, { at }) => settleQuestion(walk, at, 'expired'),
  'run.resumed': (walk, { at, payload: { resumes } }) => {
    if (walk.queue !== null) return;
    if (walk.prepare !== null) walk.spans.splice(walk.spans.indexOf(walk.prepare), 1);
    walk.prepare = null;
    walk.spans.push(draft({ kind: 'interruption', resumes }, walk.at, at));
    walk.queue = openQueue(walk, at);
  },
  'run.finalizing': (walk, { at, payload: { failedCall } }) => {
    const failed = failedCall === undefined ? null : walk.calls.failed(failedCall, walk.rows.run.model ?? '', at);
    if (failed !== null) walk.spans.push(failed);
    walk.prepare = close(walk.prepare, failed?.startedAt ?? at);
    walk.finish = open(walk, { kind: 'finish' }, at);
  },
  'run.done': end,
  'run.failed': end,
  'run.stopped': (walk, milestone) => {
    const call = walk.calls.stopped(milestone.at);
    if (call !== null) {
      walk.prepare = close(walk.prepare, call.startedAt);
      walk.spans.push(call);
    }
    end(walk, milestone);
  },
};

function end(walk: Walk, { at }: { readonly at: number }): void {
  endQueue(walk, at, null);
  walk.prepare = close(walk.prepare, at);
  walk.question = close(walk.question, at);
  walk.finish = close(walk.finish, at);
}

const openQueue = (walk: Walk, at: number) => open(walk, { kind: 'queue', waitedFor: 'worker', slots: null }, at);

/** A wait for earlier runs of the session comes first; what is left is the wait for a worker. */
function endQueue(walk: Walk, at: number, slots: number | null): void {
  const { queue, rows } = walk;
  if (queue === null) return;
  const freeAt = rows.sessionFreeAt ?? 0;
  if (freeAt > queue.startedAt) {
    const until = Math.min(freeAt, at);
    walk.spans.push(draft({ kind: 'queue', waitedFor: 'session', slots: null }, queue.startedAt, until));
    queue.startedAt = until;
  }
  if (slots !== null) Object.assign(queue, { waitedFor: 'slots', slots });
  walk.queue = close(queue, at);
}

function settleQuestion(walk: Walk, at: number, outcome: 'answered' | 'expired'): void {
  if (walk.question === null) return;
  Object.assign(walk.question, { outcome });
  walk.question = close(walk.question, at);
  walk.queue = openQueue(walk, at);
}

/** The sub-agent that a call names: one that was asked, or what has the form of a name. */
function agentOf(tool: ToolRow | undefined, { calls }: TimelineRows): string | null {
  if (tool?.name !== 'delegate') return null;
  const words = activityOf(tool.name, tool.input);
  if (!words.startsWith('delegates to ')) return null;
  const agent = words.slice('delegates to '.length);
  return plainName(agent) === agent || calls.some((call) => call.agent === agent) ? agent : null;
}

/** A time line has no content, whatever the model called. */
function namesOf({ toolUseId, name }: Pick<ToolRow, 'toolUseId' | 'name'>) {
  return { toolUseId: plainName(toolUseId), name: plainName(name) };
}

/** What a run does now is not recorded yet: a tool that has begun, else a call of the model. */
function addUnderWay(walk: Walk): void {
  const { rows } = walk;
  const { run, tools, sessionFreeAt } = rows;
  if (walk.queue !== null && sessionFreeAt === Infinity) Object.assign(walk.queue, { waitedFor: 'session' });
  if (run.status !== 'running') return;
  const tool = tools.find(({ state }) => state === 'running');
  if (tool !== undefined) {
    const { step, toolUseId, name } = tool;
    walk.prepare = close(walk.prepare, walk.at);
    open(walk, { kind: 'tool', step, ...namesOf({ toolUseId, name }), agent: agentOf(tool, rows), ok: null }, walk.at);
    return;
  }
  // Before the first text it can't be seen whether the model has been asked.
  if (walk.prepare !== null && walk.textAt === null) return;
  walk.prepare = close(walk.prepare, walk.at);
  const firstTextMs = walk.textAt === null ? null : Math.max(0, walk.textAt - walk.at);
  const known = { step: null, agent: null, usage: null, estimated: false, costUsd: null, timing: null, ok: null };
  open(walk, { kind: 'model', purpose: 'reply', model: run.model ?? '', ...known, firstTextMs }, walk.at);
}

/** The times of the run's row are left, and the ledger. */
function withoutJournal(rows: TimelineRows): Walk {
  const walk = beginning(rows, takeCalls([]));
  const { createdAt, startedAt, finishedAt } = rows.run;
  walk.queue = openQueue(walk, createdAt);
  const until = startedAt ?? finishedAt;
  if (until !== null) endQueue(walk, until, null);
  return walk;
}

function addAftermath(spans: Draft[], { run, aftermath }: TimelineRows): void {
  if (run.finishedAt === null) return;
  for (const { type, at } of aftermath) {
    // A run that touched nothing is collected in the commit of its end.
    if (at <= run.finishedAt) continue;
    const [what, outcome] = type.split('.');
    const kind = what === 'artifacts' ? 'collection' : 'export';
    spans.push(draft({ kind, ok: outcome !== 'failed' }, run.finishedAt, at));
  }
}

function ordered(drafts: readonly Draft[]): { spans: Span[]; isCut: boolean } {
  const depthOf = ({ whole }: Draft): number => (whole === null ? 0 : 1);
  const startOf = (span: Draft) => span.whole?.startedAt ?? span.startedAt;
  const kept = drafts
    .map((span, index) => ({ span, index }))
    .sort((a, b) => startOf(a.span) - startOf(b.span) || depthOf(a.span) - depthOf(b.span) || a.index - b.index)
    .map(({ span }) => span)
    .slice(0, MAX_SPANS);
  const locations = new Map(kept.map((span, index) => [span, index]));
  const spans = kept.map(({ whole, ...span }) => ({ ...span, parent: whole === null ? null : locations.get(whole)! }));
  return { spans, isCut: kept.length < drafts.length };
}
