// Turns recorded turns into the messages for a model.
import { createHash } from 'node:crypto';
import { CHARACTERS_PER_TOKEN } from '../../domain/sessions/usage.ts';
import { attachmentPart, documentCharacters, documentLimit } from './attachment-part.ts';
import { type Conversation, messagesOf, prefaceOf } from './conversation.ts';
import { shownCharacters, textPart } from './quote-part.ts';
import type { ModelMessage, ResultPart, UserMessage } from '../models/message.ts';
import {
  type Brief,
  type RecordedStep,
  SUBMIT_RESULT,
  type ToolCall,
  type ToolResult,
  type Turn,
} from '../port/protocol.ts';
import { type ReadMessage, readRecorded } from './recorded-message.ts';
import { askToSubmit } from '../result/structured-result.ts';

const IMAGE_CHARACTERS = 5_000;
const NO_REPLY = '(This turn ended before an answer was given.)';
const RESULT_GIVEN = '(This turn ended with the result that was submitted.)';
/** The note to a model when the oldest turns were removed without a summary. */
export const LEFT_OUT = 'Note: earlier turns of this conversation were left out because they no longer fit.';

/** The result of a call that had begun when the daemon died (D7). */
export const INTERRUPTED: ToolResult = {
  ok: false,
  output: 'Interrupted, outcome unknown. The call may have had an effect.',
};

type UserPart = UserMessage['parts'][number];

export interface AnsweredCall {
  readonly call: ToolCall;
  readonly result: ToolResult;
}

/**
 * The conversation before this turn's own steps: the earlier turns that fit the context window, with the summary of older ones,
 * then the user's request. The oldest turns are left out whole, with a note to the model; this turn is always included.
 */
export async function openConversation(brief: Brief): Promise<Conversation> {
  const kept = fittingTurns(brief);
  const earlier: ModelMessage[] = [];
  for (const [at, turn] of kept.entries()) {
    earlier.push(await userMessage(turn, brief));
    earlier.push(...turnReplies(turn, brief, at));
  }
  const request = await userMessage(brief.turn, brief);
  const prefaces = [
    ...(brief.compaction === null ? [] : [prefaceOf(brief.compaction)]),
    ...(brief.historyIsCut || kept.length < brief.history.length ? [LEFT_OUT] : []),
  ];
  return { preface: prefaces.length === 0 ? null : prefaces.join('\n\n'), earlier, request, steps: [] };
}

/** The messages of a conversation without steps. */
export async function openingMessages(brief: Brief): Promise<ModelMessage[]> {
  return messagesOf(await openConversation(brief));
}

/**
 * The messages of a step: its reply, unless the model returned nothing, and the results of its calls in their order. Calls of
 * another model get ids that every server takes: OpenAI's are short, Mistral's have nine letters and digits, Anthropic's differ
 * in all of a conversation. Notes follow the last result: no protocol has a place for them between results and the next reply.
 */
export function messagesOfStep(
  { assistant, isOwn }: Pick<ReadMessage, 'assistant' | 'isOwn'>,
  answered: readonly AnsweredCall[],
  { place, notes }: StepPlace,
): ModelMessage[] {
  const idOf = (id: string) => (isOwn ? id : createHash('sha256').update(`${place}/${id}`).digest('hex').slice(0, 9));
  const messages: ModelMessage[] = [];
  if (assistant.parts.length > 0) {
    const parts = assistant.parts.map((part) => (part.type === 'call' ? { ...part, id: idOf(part.id) } : part));
    messages.push({ role: 'assistant', parts });
  }
  if (answered.length > 0) {
    const parts = answered.map(({ call: { id, name }, result }, at): ResultPart => {
      const output = at === answered.length - 1 ? [result.output, ...notes].join('\n\n') : result.output;
      return { type: 'result', id: idOf(id), name, ok: result.ok, output };
    });
    messages.push({ role: 'tool', parts });
  }
  return messages;
}

/** Where a step is, and what its agent is told after it. */
interface StepPlace {
  /** Tells the step from those of other turns. */
  readonly place: string;
  readonly notes: readonly string[];
}

/** What the agent of a turn is told after a step; 0: after the request. */
export function notesAfter({ notes = [] }: Pick<Turn, 'notes'>, step: number): string[] {
  return notes.filter((note) => note.step === step).map(({ text }) => text);
}

/**
 * A step of a turn whose calls are all over. Calls without a result were interrupted: a call without one would break the
 * protocols.
 */
export function stepMessages(
  step: RecordedStep,
  { model }: Pick<Brief, 'model'>,
  { turn = 0, notes = [] }: { readonly turn?: number; readonly notes?: readonly string[] } = {},
): ModelMessage[] {
  const answered = step.calls.map(({ state, ...call }) => ({
    call,
    result: state.kind === 'ended' ? state.result : INTERRUPTED,
  }));
  return messagesOfStep(readRecorded(step, model), answered, { place: `${turn}/${step.step}`, notes });
}

/** Ends with the agent's words. Some chat templates refuse two user messages in a row, and Mistral's servers one after a result. */
function turnReplies(turn: Turn, brief: Brief, at: number): ModelMessage[] {
  const replies = turn.steps
    .flatMap((step) => stepMessages(step, brief, { turn: at, notes: notesAfter(turn, step.step) }))
    .flatMap(withUserBetween);
  if (replies.at(-1)?.role === 'assistant') return replies;
  return [
    ...replies,
    { role: 'assistant', parts: [{ type: 'text', text: hasResult(turn) ? RESULT_GIVEN : NO_REPLY }] },
  ];
}

/** Whether the turn ended with a result that its agent submitted. */
function hasResult({ steps }: Turn): boolean {
  const calls = steps.at(-1)?.calls ?? [];
  return calls.some(({ name, state }) => name === SUBMIT_RESULT && state.kind === 'ended' && state.result.ok);
}

/** In a run that must submit a result, the model may have replied with text first; the request to submit then goes between. */
function withUserBetween(message: ModelMessage, index: number, all: readonly ModelMessage[]): ModelMessage[] {
  const isSecond = message.role === 'assistant' && all[index - 1]?.role === 'assistant';
  return isSecond ? [{ role: 'user', parts: [{ type: 'text', text: askToSubmit([]) }] }, message] : [message];
}

async function userMessage(turn: Turn, brief: Brief): Promise<UserMessage> {
  const limit = documentLimit(turn, brief);
  const placed = new Set<string>();
  const parts: UserPart[] = [];
  for (const block of turn.user) {
    if (block.type === 'text') {
      if (block.text !== '') parts.push(textPart(block, brief));
      continue;
    }
    const attachment = turn.attachments.find(({ id }) => id === block.attachmentId);
    if (attachment === undefined) continue;
    placed.add(attachment.id);
    parts.push(await attachmentPart(attachment, block.media, brief, limit));
  }
  for (const attachment of turn.attachments) {
    if (!placed.has(attachment.id)) parts.push(await attachmentPart(attachment, 'file', brief, limit));
  }
  for (const text of notesAfter(turn, 0)) parts.push({ type: 'text', text });
  // Most servers refuse an empty message.
  return { role: 'user', parts: parts.length > 0 ? parts : [{ type: 'text', text: '(empty message)' }] };
}

/** The newest turns whose estimate fits in addition to this turn, oldest first. */
function fittingTurns(brief: Brief): readonly Turn[] {
  const { contextWindow, maxOutputTokens } = brief.model;
  const window = (contextWindow - maxOutputTokens) * CHARACTERS_PER_TOKEN;
  let left = window - brief.instructions.length - charactersOf(brief.turn, brief);
  left -= brief.compaction?.summary.length ?? 0;
  let first = brief.history.length;
  while (first > 0) {
    left -= charactersOf(brief.history[first - 1]!, brief);
    if (left < 0) break;
    first -= 1;
  }
  return brief.history.slice(first);
}

function charactersOf(turn: Turn, brief: Brief): number {
  const { images } = brief.model;
  let characters = documentCharacters(turn, brief);
  for (const block of turn.user) {
    if (block.type === 'text') characters += shownCharacters(block, brief);
    else characters += images && block.media === 'image' ? IMAGE_CHARACTERS : 0;
  }
  for (const { name, workspacePath } of turn.attachments) characters += name.length + workspacePath.length + 100;
  for (const { text } of turn.notes ?? []) characters += text.length;
  for (const step of turn.steps) {
    characters += step.text.length;
    for (const { name, input, state } of step.calls) {
      characters += name.length + JSON.stringify(input).length;
      characters += state.kind === 'ended' ? state.result.output.length : INTERRUPTED.output.length;
    }
  }
  return characters;
}
