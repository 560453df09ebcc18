// Puts the events of a reply together.
import type { JsonObject } from '../../domain/json.ts';
import { NO_USAGE, type Usage } from '../../domain/sessions/usage.ts';
import type { Ending, ModelEvent, TakeEvent } from './event.ts';
import type { TextPart, ThinkingPart } from './message.ts';
import { checkParts } from './protocol.ts';

/** A tool call whose arguments are not read yet. */
export interface RawCall {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly json: string;
  readonly proof?: JsonObject;
}

/** A reply, as far as it has arrived. */
export interface Reply {
  readonly parts: readonly (TextPart | ThinkingPart | RawCall)[];
  readonly usage: Usage;
  /** Null while it is incomplete. */
  readonly ending: Ending | null;
}

export interface ReplyCollector {
  readonly take: TakeEvent;
  reply(): Reply;
}

type Growing =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'thinking'; text: string; proof?: JsonObject }
  | { readonly type: 'call'; readonly id: string; readonly name: string; json: string; proof?: JsonObject };

type Takers = { readonly [T in ModelEvent['type']]: (event: Extract<ModelEvent, { type: T }>) => void };

/** Collects one reply, in the order in which its parts begin. Throws UpstreamFault when there are too many. */
export function makeReplyCollector(): ReplyCollector {
  const parts: Growing[] = [];
  const calls = new Map<number, Extract<Growing, { type: 'call' }>>();
  let usage: Usage = NO_USAGE;
  let ending: Ending | null = null;
  /** Whether the last part may grow. */
  let isOpen = false;

  const add = (part: Growing) => {
    parts.push(part);
    checkParts(parts.length);
  };
  const grow = (type: 'text' | 'thinking', text: string) => {
    const last = isOpen ? parts.at(-1) : undefined;
    if (last?.type === type) last.text += text;
    else add({ type, text });
    isOpen = true;
  };
  const addProof = (part: { proof?: JsonObject }, proof: JsonObject) => {
    part.proof = { ...part.proof, ...proof };
  };
  const takers: Takers = {
    text: ({ text }) => grow('text', text),
    thinking: ({ text }) => grow('thinking', text),
    proof: ({ proof, call, isLate = false }) => {
      if (call !== undefined) return addProof(calls.get(call)!, proof);
      const thinking = isLate ? parts.findLast(({ type }) => type === 'thinking') : undefined;
      if (thinking === undefined) grow('thinking', '');
      addProof((thinking ?? parts.at(-1)) as { proof?: JsonObject }, proof);
    },
    'call-start': ({ call, id, name }) => {
      const started = { type: 'call', id, name, json: '' } as const;
      calls.set(call, started);
      add(started);
      isOpen = false;
    },
    'call-delta': ({ call, json }) => {
      calls.get(call)!.json += json;
    },
    'block-end': () => {
      isOpen = false;
    },
    usage: (event) => {
      usage = { ...usage, ...event.usage };
    },
    finish: (event) => {
      ending = event.ending;
    },
  };
  return {
    take: (event) => takers[event.type](event as never),
    reply: () => ({ parts, usage, ending }),
  };
}
