// Which tool call a delta belongs to, for servers that omit the index, the id or both, or repeat what was said.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.ts';
import type { TakeEvent } from '../event.ts';
import { checkParts, textIn } from '../protocol.ts';

export interface CallDeltas {
  /** Takes `tool_calls` of a delta: a list; one object, of Text Generation Inference. */
  take(deltas: JsonValue): void;
  /** No deltas follow. */
  end(): void;
}

interface OpenCall {
  readonly call: number;
  id: string;
  name: string;
  json: string;
  isStarted: boolean;
}

interface KnownCalls {
  readonly byIndex: Map<number, OpenCall>;
  readonly byId: Map<string, OpenCall>;
}

/** What a delta says of its call; empty where it says nothing. */
interface Delta {
  readonly index: number | null;
  readonly id: string;
  readonly name: string;
  readonly json: string;
  readonly more: JsonValue | undefined;
}

/** Reports the calls of one reply. A call starts when its name is known. */
export function makeCallDeltas(take: TakeEvent): CallDeltas {
  const calls: OpenCall[] = [];
  /** The newest call of each index and id. */
  const known: KnownCalls = { byIndex: new Map(), byId: new Map() };

  const start = (open: OpenCall) => {
    open.isStarted = true;
    take({ type: 'call-start', call: open.call, id: open.id, name: open.name });
    if (open.json !== '') take({ type: 'call-delta', call: open.call, json: open.json });
  };
  const begin = ({ index, id, name }: Delta): OpenCall => {
    const open = { call: calls.length, id, name, json: '', isStarted: false };
    calls.push(open);
    checkParts(calls.length);
    if (index !== null) known.byIndex.set(index, open);
    return open;
  };
  const takeOne = (delta: Delta) => {
    const found = findCall(known, calls.at(-1), delta);
    const open = found === undefined || isAnother(found, delta) ? begin(delta) : found;
    open.id ||= delta.id;
    if (open.id !== '') known.byId.set(open.id, open);
    open.name ||= delta.name;
    open.json += delta.json;
    if (open.isStarted && delta.json !== '') take({ type: 'call-delta', call: open.call, json: delta.json });
    if (!open.isStarted && open.name !== '') start(open);
    if (delta.more !== undefined && delta.more !== null) {
      take({ type: 'proof', call: open.call, proof: { extra_content: delta.more } });
    }
  };
  return {
    take: (deltas) => {
      for (const delta of Array.isArray(deltas) ? deltas : [deltas]) if (isJsonObject(delta)) takeOne(read(delta));
    },
    end: () => {
      for (const open of calls) if (!open.isStarted) start(open);
    },
  };
}

function read({ index, id, function: called, extra_content: more }: JsonObject): Delta {
  const { name, arguments: given } = isJsonObject(called) ? called : {};
  return {
    index: typeof index === 'number' ? index : null,
    id: textIn(id),
    name: textIn(name),
    json: typeof given === 'object' && given !== null ? JSON.stringify(given) : textIn(given),
    more,
  };
}

/**
 * By its index; without one by its id, or the last call if it brings no name. The rest of a call may come under another index
 * than its beginning: DeepSeek's models at gateways.
 */
function findCall(
  { byIndex, byId }: KnownCalls,
  last: OpenCall | undefined,
  { index, id, name }: Delta,
): OpenCall | undefined {
  const ofIndex = index === null ? undefined : byIndex.get(index);
  if (ofIndex !== undefined || (index !== null && name !== '')) return ofIndex;
  const ofId = byId.get(id);
  if (ofId !== undefined || name !== '') return ofId;
  // Calls whose names come late are told apart by their indexes.
  return index === null || (id === '' && last?.name !== '') ? last : undefined;
}

/**
 * Whether a delta starts another call than the one of its index: Ollama and Google have given all calls the index 0, Text
 * Generation Inference gives them one id too. Only one with a name does: vLLM has given each delta an id of its own.
 */
function isAnother(open: OpenCall, { id, name, json }: Delta): boolean {
  if (name === '' || open.name === '') return false;
  if (id !== '' && open.id !== '' && id !== open.id) return true;
  return name !== open.name || (json.trimStart().startsWith('{') && isWhole(open.json));
}

function isWhole(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
