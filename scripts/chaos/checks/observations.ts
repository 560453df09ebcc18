// Compares what the clients saw, live and when they rejoined at the end, with the journal on disk.
import { type ApiTarget, keyOf, type Observation } from '../clients/exchange.ts';
import type { EndedSessions } from '../clients/load.ts';
import { numberOf } from './traces.ts';
import type { EventRow, RunRecord, StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import { readSse } from '../../../test/support/http/sse.ts';

export interface Frame {
  readonly id: number;
  readonly name: string | null;
  readonly data: string;
}

/** Streams of ended runs as the daemon replays them, by run id. */
export type Replays = ReadonlyMap<string, readonly Frame[]>;

/** Rejoins each run from its first event; with tool events and ids. */
export async function replayAll(
  runs: readonly { readonly runId: string; readonly target: ApiTarget }[],
): Promise<Replays> {
  const replays = new Map<string, readonly Frame[]>();
  const waiting = [...runs];
  const readers = Array.from({ length: 8 }, async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      replays.set(next.runId, await replay(next.target, next.runId));
  });
  await Promise.all(readers);
  return replays;
}

async function replay({ url, key }: ApiTarget, runId: string): Promise<Frame[]> {
  const headers = { authorization: `Bearer ${key}`, 'x-stream-tool-events': 'true' };
  const response = await fetch(`${url}/openapi/v1/runs/${runId}/stream`, { headers });
  if (response.status !== 200) throw new Error(`The stream of ${runId}: ${response.status} ${await response.text()}`);
  const frames: Frame[] = [];
  for await (const { id, event, data } of readSse(response.body as AsyncIterable<Uint8Array>))
    if (id !== null && event !== 'ping') frames.push({ id: Number(id), name: event, data: data ?? '' });
  return frames;
}

/** Every accepted turn has its one run, and no other run exists. */
export function checkAcceptance(
  observations: readonly Observation[],
  { records, erased, sessions, cleanups }: StoredFacts,
  ended: EndedSessions,
): string[] {
  const byNumber = Map.groupBy(records, numberOf);
  const problems = observations.flatMap((observation) => {
    const runs = byNumber.get(observation.request.number) ?? [];
    // The rows of a deleted session no longer show what was asked.
    const isErased =
      runs.length === 0 && erased.some(({ run }) => [run.session_id, null].includes(observation.sessionId));
    if (isErased) return observation.problems;
    byNumber.delete(observation.request.number);
    return [...observation.problems, ...checkRun(observation, runs)].map(
      (words) => `turn ${observation.request.number}: ${words}`,
    );
  });
  const unasked = [...byNumber.keys()].map((number) => `turn ${number} was run, but never requested`);
  const endings = [
    ...records
      .filter(({ run }) => run.status === 'canceled' && !isEnded(ended, run.session_id))
      .map(({ run }) => `run ${run.seq} is canceled, but was never stopped`),
    ...sessions
      .filter(({ id, deleted }) => (deleted === 1) !== ended.deleted.has(id))
      .map(({ id, deleted }) => `session ${id} is ${deleted === 1 ? '' : 'not '}deleted`),
    ...(cleanups === 0 ? [] : [`${cleanups} clean-ups were never done`]),
  ];
  return [...problems, ...unasked, ...endings];
}

const isEnded = ({ stopped, deleted }: EndedSessions, id: string) => stopped.has(id) || deleted.has(id);

function checkRun({ request, sends, sessionId, runId, end, text }: Observation, runs: readonly RunRecord[]): string[] {
  const [record] = runs;
  if (runs.length > 1) return [`it became ${runs.length} runs`];
  if (record === undefined) return end === 'unknown' || (sends === 0 && runId === null) ? [] : ['its run is gone'];
  const { run } = record;
  const key = request.protocol === 'messages' ? keyOf(request.number) : null;
  return [
    ...(runId === null || run.id === runId ? [] : [`its run is ${run.id}, the client got ${runId}`]),
    ...(sessionId === null || run.session_id === sessionId
      ? []
      : [`its session is ${run.session_id}, not ${sessionId}`]),
    ...(run.idempotency_key === key ? [] : [`its key is ${run.idempotency_key}`]),
    ...(end === 'overdue' || end === null ? ['its client waited in vain'] : []),
    ...(end === 'unknown' || run.status === end ? [] : [`it is ${run.status}, the client got ${end}`]),
    ...(text === null || text === run.answer ? [] : ['its answer is not what the client got']),
  ];
}

/** Replays send the journal event by event, and what the clients saw live was part of it. */
export function checkReplays(
  replays: Replays,
  observations: readonly Observation[],
  { records }: StoredFacts,
): string[] {
  const seen = new Map(observations.map((observation) => [observation.request.number, observation]));
  return records.flatMap((record) => {
    const { run } = record;
    const frames = replays.get(run.id);
    if (frames === undefined) return [`run ${run.seq} was not replayed`];
    const expected = record.events.flatMap((event) => expectedFrames(record, event));
    const sent = frames.map((frame) => `${frame.id} ${essenceOf(run.protocol, frame)}`);
    const at = expected.findIndex((words, i) => words !== sent[i]);
    const problems =
      at === -1 && sent.length === expected.length
        ? []
        : [`run ${run.seq}: its replay has "${sent[at] ?? sent.at(-1)}" where the journal has "${expected[at]}"`];
    const observation = seen.get(numberOf(record));
    return observation === undefined ? problems : [...problems, ...checkLive(observation, frames)];
  });
}

function checkLive({ request, frames, end }: Observation, replayed: readonly Frame[]): string[] {
  const expectedLive = replayed.filter(({ name }) => request.extras || !EXTRAS.has(name));
  const byId = new Map(expectedLive.map((frame) => [frame.id, frame]));
  const problems: string[] = [];
  for (const [id, { name, data }] of frames) {
    const frame = byId.get(id);
    if (frame?.name !== name || frame.data !== data)
      problems.push(`turn ${request.number}: event ${id} was seen, but no longer exists`);
  }
  // Chat streams have ids only when requested, or when rejoined: then it is unknown what came before.
  const isWhole = request.stream && end !== 'unknown' && (request.protocol === 'messages' || request.extras);
  const missed = isWhole ? expectedLive.filter(({ id }) => !frames.has(id)) : [];
  return [...problems, ...missed.map(({ id, name }) => `turn ${request.number}: event ${id} (${name}) never came`)];
}

/** What a stream has only where the events of tools are asked for. */
const EXTRAS: ReadonlySet<string | null> = new Set([
  'tool_use',
  'tool_result',
  'model_wait.started',
  'model_wait.ended',
]);

type Essence = (payload: Record<string, unknown>, run: RunRecord['run']) => string | null;

const MESSAGES: Readonly<Record<string, Essence>> = {
  'run.queued': ({ promptTokens }) => `message_start ${String(promptTokens)}`,
  content_block_start: ({ index }) => `content_block_start ${String(index)}`,
  content_block_delta: ({ index, text }) => `content_block_delta ${String(index)} ${String(text)}`,
  content_block_stop: ({ index }) => `content_block_stop ${String(index)}`,
  tool_use: ({ toolUseId }) => `tool_use ${String(toolUseId)}`,
  tool_result: ({ toolUseId, ok }) => `tool_result ${String(toolUseId)} ${String(ok)}`,
  'model_wait.started': () => 'model_wait.started',
  'model_wait.ended': () => 'model_wait.ended',
  'run.finalizing': ({ stopReason }) => (stopReason === null ? null : 'message_delta'),
  'run.done': () => 'message_stop',
  'run.failed': () => 'error',
  'run.stopped': () => 'error',
};

const CHAT: Readonly<Record<string, Essence>> = {
  'run.queued': () => 'start',
  content_block_start: ({ index }) => (index === 0 ? null : 'text \n\n'),
  content_block_delta: ({ text }) => `text ${String(text)}`,
  'run.finalizing': ({ stopReason }) => (stopReason === null ? null : 'finish'),
  message: (_payload, run) => (run.include_usage === 1 ? 'usage' : null),
  'run.done': () => 'done',
  'run.failed': () => 'error',
  'run.stopped': () => 'error',
};

function expectedFrames({ run }: RunRecord, event: EventRow): string[] {
  const essence = (run.protocol === 'chat' ? CHAT : MESSAGES)[event.type];
  const words = essence?.(JSON.parse(event.payload) as Record<string, unknown>, run) ?? null;
  return words === null ? [] : [`${event.id} ${words}`];
}

interface WireData {
  readonly index?: number;
  readonly delta?: { readonly text?: string };
  readonly tool_use_id?: string;
  readonly ok?: boolean;
  /** Of a reply, or the words of a failure. */
  readonly message?: { readonly usage: { readonly input_tokens: number } } | string;
  readonly error?: object;
  readonly choices?: readonly {
    readonly delta: { role?: string; content?: string };
    readonly finish_reason: string | null;
  }[];
}

/** What a frame says, in the words of the two tables above. */
function essenceOf(protocol: 'chat' | 'messages', { name, data }: Frame): string {
  if (protocol === 'chat') return data === '[DONE]' ? 'done' : chatEssence(JSON.parse(data) as WireData);
  const wire = JSON.parse(data) as WireData;
  const { index, delta, tool_use_id, ok, message } = wire;
  const tokens = typeof message === 'object' ? message.usage.input_tokens : undefined;
  const said = [index, delta?.text, tool_use_id, ok, tokens];
  const details = said.filter((detail) => detail !== undefined);
  return name === 'message_delta' ? name : [name, ...details].map(String).join(' ');
}

function chatEssence({ choices, error }: WireData): string {
  if (error !== undefined) return 'error';
  const [choice] = choices ?? [];
  if (choice === undefined) return 'usage';
  if (choice.finish_reason !== null) return 'finish';
  return choice.delta.role === undefined ? `text ${choice.delta.content}` : 'start';
}
