// A model's reply as the journal stores it: the order of its parts, and what the step doesn't store elsewhere.
import { isJsonObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH, nestsDeeperThan } from '../../domain/json.ts';
import type { AssistantMessage, ModelMessage } from '../models/message.ts';
import type { RawCall, Reply } from '../models/reply.ts';
import type { ModelGrant } from '../port/grants.ts';
import type { RecordedStep, ToolCall } from '../port/protocol.ts';
import type { Recorded, RecordedPart } from './recorded-form.ts';

/** Of the recorded form. */
const VERSION = 2;

/** A recorded message, with the text and the arguments of its step. `isOwn`: it came from the model that is asked next. */
export type ReadMessage = Pick<Recorded, 'ending' | 'faults'> & {
  readonly assistant: AssistantMessage;
  readonly isOwn: boolean;
};

const NOT_JSON = 'The arguments were not valid JSON.';
/** Of a call that its reply may have been cut off in, by how the reply ended. */
const CUT: Readonly<Record<string, string>> = {
  length: 'The reply reached its limit of tokens before the arguments were complete. Write less in one call.',
  'content-filter': "The provider's content filter ended the reply before the arguments were complete.",
};
const NOT_AN_OBJECT = 'The arguments were not a JSON object.';
const TOO_DEEP = `The arguments were nested deeper than ${MAX_JSON_DEPTH} levels.`;

/** What a step stores of a reply. `faults`: see `Recorded`. */
export interface StoredReply {
  readonly message: JsonValue;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly faults: Readonly<Record<string, string>>;
}

/**
 * Turns a complete reply into plain JSON for the journal. Arguments are always an object. `usedIds`: call ids that the run has
 * seen; those of this reply are added, and a duplicate gets a new id.
 */
export function recordReply({ parts, ending }: Reply, model: string, usedIds: Set<string>): StoredReply {
  const calls: ToolCall[] = [];
  const faults: Record<string, string> = {};
  const idOf = makeUnusedIds(usedIds);
  // What belongs to a reply as a whole follows its calls as thinking without text.
  const last = parts.findLast((part) => part.type !== 'thinking' || part.text !== '');
  const recorded = parts.map((part): RecordedPart => {
    if (part.type === 'text') return { type: 'text', characters: part.text.length };
    if (part.type === 'thinking') return { ...part, text: part.text.toWellFormed() };
    const id = idOf(part.id.toWellFormed());
    const read = readArguments(part, part === last ? CUT[ending ?? ''] : undefined);
    if ('fault' in read) faults[id] = read.fault;
    calls.push({ id, name: part.name.toWellFormed(), input: 'fault' in read ? {} : read.input });
    return { type: 'call', id, ...(part.proof && { proof: part.proof }) };
  });
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const message: Recorded & { version: number } = {
    version: VERSION,
    model,
    ending: ending ?? '',
    parts: recorded,
    faults,
  };
  // Half of a character may have been sent; the length is the same.
  return { message: message as unknown as JsonValue, text: text.toWellFormed(), calls, faults };
}

/** Gateways to Bedrock and Google send an empty object before the arguments. */
const EMPTY_FIRST = /^\{\}(?=\{)/;

/** Whatever is sent to the journal and the main thread must survive a clone and a `stringify`, both of which recurse. */
function readArguments(
  { json: sent }: RawCall,
  cut: string | undefined,
): { readonly input: JsonObject } | { readonly fault: string } {
  const json = sent.replace(EMPTY_FIRST, '');
  if (json.trim() === '') return cut === undefined ? { input: {} } : { fault: cut };
  if (nestsDeeperThan(json, MAX_JSON_DEPTH)) return { fault: TOO_DEEP };
  try {
    // Models write null for no arguments.
    const input = (JSON.parse(json) ?? {}) as JsonValue;
    return isJsonObject(input) ? { input } : { fault: NOT_AN_OBJECT };
  } catch {
    return { fault: cut ?? NOT_JSON };
  }
}

/** The recorded message of a step, for the model that is asked next. */
export function readRecorded(step: RecordedStep, { kind, model }: Pick<ModelGrant, 'kind' | 'model'>): ReadMessage {
  const recorded = readMessage(step.message) ?? { model: null, ending: 'stop', parts: [], faults: {} };
  // Thinking and its proofs are for the model that they came from.
  const isOwn = step.kind === kind && (recorded.model === null || recorded.model === model);
  const parts = withTextAndCalls(recorded.parts, step) ?? rebuild(step);
  const kept = isOwn ? parts : parts.flatMap(withoutThinking);
  return { assistant: { role: 'assistant', parts: kept }, isOwn, ending: recorded.ending, faults: recorded.faults };
}

type Part = AssistantMessage['parts'][number];

function readMessage(message: JsonValue): Recorded | null {
  return isJsonObject(message) && message['version'] === VERSION ? (message as unknown as Recorded) : null;
}

/** The parts with the step's text and arguments; null when they don't have all of them. */
function withTextAndCalls(parts: readonly RecordedPart[], { text, calls }: RecordedStep): Part[] | null {
  let at = 0;
  let called = 0;
  const whole = parts.flatMap((part): Part[] => {
    if (part.type === 'thinking') return [part];
    if (part.type === 'text') {
      const said = 'text' in part ? part.text : text.slice(at, at + part.characters);
      at += said.length;
      return [{ type: 'text', text: said }];
    }
    const call = calls.find(({ id }) => id === part.id);
    if (call === undefined) return [];
    called += 1;
    const { id, name, input } = call;
    return [{ ...part, id, name, input }];
  });
  return at === text.length && called === calls.length ? whole : null;
}

/** Only from what the step stores itself: of another form, or removed. */
function rebuild({ text, calls }: RecordedStep): Part[] {
  const said: Part[] = text === '' ? [] : [{ type: 'text', text }];
  return [...said, ...calls.map(({ id, name, input }): Part => ({ type: 'call', id, name, input }))];
}

/** A message without what belongs to the model that it came from. */
export function forAnotherModel(message: ModelMessage): ModelMessage {
  return message.role === 'assistant' ? { ...message, parts: message.parts.flatMap(withoutThinking) } : message;
}

function withoutThinking(part: Part): Part[] {
  if (part.type === 'thinking') return [];
  if (part.type === 'text') return [part];
  const { proof: _theirs, ...call } = part;
  return [call];
}

/** Some servers number their calls from the start in each reply; within a run, an id identifies one call. */
function makeUnusedIds(usedIds: Set<string>): (id: string) => string {
  /** The last number that each id got, so that thousands of one id aren't searched again for each. */
  const numbers = new Map<string, number>();
  return (id) => {
    const wanted = id === '' ? 'call' : id;
    let number = numbers.get(wanted) ?? 1;
    let free = number === 1 ? wanted : `${wanted}-${number}`;
    for (; usedIds.has(free); free = `${wanted}-${number}`) number += 1;
    numbers.set(wanted, number);
    usedIds.add(free);
    return free;
  };
}
