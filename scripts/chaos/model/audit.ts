// What a model call shows of the conversation, in either protocol: which turns, which calls, and which result of each call.
import type { ModelQuestion } from '../../../test/support/model/model-reply.ts';
import { numberIn } from './plan.ts';

/** A finished call of the current turn, as the model sees it. */
export interface ShownCall {
  readonly name: string;
  readonly result: string;
}

export interface Shown {
  /** Numbers of all turns in the conversation, in order. */
  readonly turns: readonly number[];
  /** Calls of this turn's earlier replies, a list for each reply. */
  readonly shown: readonly (readonly ShownCall[])[];
  /** What no protocol allows: calls without a result, results without a call, two results of one call. */
  readonly faults: readonly string[];
}

/** One line of the audit: a model call of a turn's step. */
export interface AuditLine extends Shown {
  readonly number: number;
  readonly step: number;
}

interface Part {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

interface WireMessage {
  readonly role?: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
  readonly tool_call_id?: string;
}

interface OpenCall {
  readonly name: string;
  readonly id: string;
  result?: string;
}

/** Reads a request's whole conversation. */
export function shownIn({ body }: ModelQuestion): Shown {
  const turns: number[] = [];
  const faults: string[] = [];
  let replies: OpenCall[][] = [];
  const close = (): void => {
    for (const call of replies.flat()) if (call.result === undefined) faults.push(`call ${call.id} has no result`);
  };
  for (const message of (body.messages ?? []) as readonly WireMessage[]) {
    for (const { id, text } of resultsIn(message)) {
      const call = replies.at(-1)?.find((call) => call.id === id);
      if (call === undefined) faults.push(`result of ${id} follows no call`);
      else if (call.result !== undefined) faults.push(`call ${id} has two results`);
      else call.result = text;
    }
    const number = message.role === 'user' ? numberIn(textOf(message.content)) : undefined;
    if (number !== undefined) {
      close();
      replies = [];
      turns.push(number);
    }
    if (message.role === 'assistant') replies.push(callsIn(message));
  }
  close();
  const shown = replies.map((calls) => calls.map(({ name, result }) => ({ name, result: result ?? '' })));
  return { turns, shown, faults };
}

function partsOf(content: unknown): readonly Part[] {
  return Array.isArray(content) ? (content as Part[]) : [];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return partsOf(content)
    .map(({ text }) => text ?? '')
    .join('\n');
}

function callsIn(message: WireMessage): OpenCall[] {
  const openai = (message.tool_calls ?? []).map(({ id, function: { name } }) => ({ id, name }));
  const anthropic = partsOf(message.content).flatMap(({ type, id, name }) =>
    type === 'tool_use' && id !== undefined && name !== undefined ? [{ id, name }] : [],
  );
  return [...openai, ...anthropic];
}

function resultsIn(message: WireMessage): { id: string; text: string }[] {
  if (message.role === 'tool') return [{ id: message.tool_call_id ?? '', text: textOf(message.content) }];
  return partsOf(message.content).flatMap((part) =>
    part.type === 'tool_result' ? [{ id: part.tool_use_id ?? '', text: textOf(part.content) }] : [],
  );
}
