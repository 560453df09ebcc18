// A model's reply as the journal stores it: the SDK's own message where it can be replayed, plus what the SDK drops.
import type { AssistantModelMessage } from 'ai';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH } from '../../domain/json.ts';
import type { EndpointKind, RecordedStep, ToolCall } from '../port/protocol.ts';

/**
 * The recorded `message` of a step, with its text and arguments. `faults` maps call ids to the reason that their arguments
 * could not be read.
 */
export interface RecordedMessage {
  readonly assistant: AssistantModelMessage;
  readonly finishReason: string;
  readonly faults: Readonly<Record<string, string>>;
}

type Part = Exclude<AssistantModelMessage['content'], string>[number];

const REPLAYED: ReadonlySet<Part['type']> = new Set(['text', 'reasoning', 'custom', 'tool-call']);
const NOT_AN_OBJECT = 'The arguments were not a JSON object.';
const TOO_DEEP = `The arguments were nested deeper than ${MAX_JSON_DEPTH} levels.`;

/** The input of `recordReply`: the message, and by call id why arguments could not be read. */
export interface RawReply {
  readonly assistant: AssistantModelMessage | undefined;
  /** The text of the step. */
  readonly text: string;
  readonly finishReason: string;
  readonly faults: ReadonlyMap<string, string>;
  /** Call ids that the run has seen. Ids of this reply are added; a duplicate gets a new id. */
  readonly usedIds: Set<string>;
}

/**
 * Turns a reply and its tool calls into plain JSON for the journal. Arguments are always an object. The message omits text and
 * arguments, which the step stores separately; `readRecorded` restores them.
 */
export function recordReply(raw: RawReply): { message: JsonValue; calls: ToolCall[]; faults: Record<string, string> } {
  const content = typeof raw.assistant?.content === 'string' ? [] : (raw.assistant?.content ?? []);
  const calls: ToolCall[] = [];
  const faults: Record<string, string> = {};
  const parts = content.flatMap((part): Part[] => {
    if (!REPLAYED.has(part.type)) return [];
    if (part.type !== 'tool-call') return [part];
    const id = unusedId(part.toolCallId, raw.usedIds);
    const fault = raw.faults.get(part.toolCallId) ?? argumentsFault(part.input);
    const input: JsonObject = fault === undefined && isJsonObject(part.input) ? part.input : {};
    if (fault !== undefined) faults[id] = fault;
    calls.push({ id, name: part.toolName, input });
    return [{ ...part, toolCallId: id, input: undefined }];
  });
  const message = {
    assistant: { role: 'assistant', content: withoutText(parts, raw.text) },
    finishReason: raw.finishReason,
    faults,
  };
  // Round-trip through JSON, so that the stored value is what a later process reads.
  return { message: JSON.parse(JSON.stringify(message)) as JsonValue, calls, faults };
}

/** A text part that has only its length; the text is that of its step. */
interface Span {
  readonly type: 'text';
  readonly characters: number;
}

function withoutText(parts: readonly Part[], text: string): readonly (Part | Span)[] {
  const said = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (said !== text) return parts;
  return parts.map((part) =>
    part.type === 'text' ? { ...part, text: undefined, characters: part.text.length } : part,
  );
}

/** The parts with the step's text and arguments. Messages of earlier versions contain them already. */
function withTextAndCalls(parts: readonly (Part | Span)[], { text, calls }: RecordedStep): Part[] {
  let at = 0;
  return parts.map((part): Part => {
    if ('characters' in part) {
      const { characters, ...rest } = part;
      at += characters;
      return { ...rest, text: text.slice(at - characters, at) };
    }
    if (part.type !== 'tool-call' || part.input !== undefined) return part;
    return { ...part, input: calls.find(({ id }) => id === part.toolCallId)?.input ?? {} };
  });
}

/** Whatever is sent to the journal and the main thread must survive a clone and a `stringify`, both of which recurse. */
function argumentsFault(input: unknown): string | undefined {
  if (!isJsonObject(input)) return NOT_AN_OBJECT;
  return isDeeperThan(input, MAX_JSON_DEPTH) ? TOO_DEEP : undefined;
}

/** The recorded message of a step. A step of another protocol, or of an unknown form, is rebuilt from its text and calls. */
export function readRecorded(step: RecordedStep, kind: EndpointKind): RecordedMessage {
  const { message } = step;
  const known = isJsonObject(message) && isJsonObject(message['assistant']) ? message : undefined;
  const faults =
    known !== undefined && isJsonObject(known['faults']) ? (known['faults'] as Record<string, string>) : {};
  const finishReason = typeof known?.['finishReason'] === 'string' ? known['finishReason'] : 'stop';
  const assistant = known?.['assistant'] as unknown as AssistantModelMessage | undefined;
  const replayable = step.kind === kind && assistant?.role === 'assistant' && Array.isArray(assistant.content);
  if (!replayable) return { assistant: rebuild(step), finishReason, faults };
  const content = withTextAndCalls(assistant.content as (Part | Span)[], step);
  return { assistant: { ...assistant, content }, finishReason, faults };
}

function rebuild(step: RecordedStep): AssistantModelMessage {
  const text: Part[] = step.text === '' ? [] : [{ type: 'text', text: step.text }];
  const calls = step.calls.map(
    ({ id, name, input }): Part => ({ type: 'tool-call', toolCallId: id, toolName: name, input }),
  );
  return { role: 'assistant', content: [...text, ...calls] };
}

/** Some servers number their calls from the start in each reply; within a run, an id identifies one call. */
function unusedId(id: string, usedIds: Set<string>): string {
  const wanted = id === '' ? 'call' : id;
  let free = wanted;
  for (let n = 2; usedIds.has(free); n += 1) free = `${wanted}-${n}`;
  usedIds.add(free);
  return free;
}
