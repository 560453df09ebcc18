// What the model was asked in a run, in the chat form that most model servers take: to ask it again elsewhere.
import type { AssistantBlockWire, HistoryMessageWire, HistoryWire } from '../../wire/sessions/history.ts';
import type { RunWire } from '../../wire/sessions/run.ts';
import type { TimelineWire } from '../../wire/sessions/timeline.ts';
import type { StatusWire } from '../../wire/status.ts';

type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly ChatCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

interface ChatCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What an export is made from. `place`: how many runs of the session came before. */
export interface ExportSources {
  readonly run: RunWire;
  readonly timeline: TimelineWire;
  readonly history: HistoryWire;
  readonly place: number;
  readonly instructions: string | null;
  /** The model and its endpoint, as they are now; null when it is gone. */
  readonly model: StatusWire['models'][number] | null;
}

/** Maximum characters of the conversation; the oldest messages are left out first. */
const MAX_CHARACTERS = 32 * 1_048_576;

const README = [
  'What the model was asked in one run of Errand. The request of a step is "system", then the first "messages" of "conversation".',
  'EXACT: texts of the user and the agent, tool calls with their arguments, results of tools, their order, tokens and times.',
  'NOT EXACT: the instructions are those of today, without the facts of that day and the notes of tools; definitions of tools, the output',
  'schema, images and the texts of documents are left out; in a long conversation the model had a summary instead of the oldest part, and long',
  'results of tools were shortened (spans of the kind "compaction" say when). A server may give another answer to the same request.',
  'Secrets are replaced by [removed] or [credential].',
];

/** Makes the document. */
export function makeRunExport({ run, timeline, history, place, instructions, model }: ExportSources): object {
  const { before, own } = messagesAround(history.messages, place);
  const earlier = before.flatMap(chatOf);
  const current = own.flatMap(chatOf);
  const { kept, leftOut } = newest([...earlier, ...current]);
  const start = kept.length - current.length;
  const steps = timeline.spans.filter(
    ({ kind, purpose, step }) => kind === 'model' && purpose === 'reply' && step != null,
  );
  const replies = current.flatMap(({ role }, index) => (role === 'assistant' ? [start + index] : []));
  return {
    format: 'errand-run-export',
    version: 1,
    readme: README,
    run,
    complete: run.finished_at !== null,
    model,
    system: instructions,
    messages_left_out: leftOut,
    requests: replies.map((at, index) => ({
      step: index + 1,
      messages: Math.max(0, at),
      model: steps[index]?.model ?? run.model,
      input_tokens: steps[index]?.input_tokens ?? null,
      output_tokens: steps[index]?.output_tokens ?? null,
      first_token_ms: steps[index]?.timing?.first_token_ms ?? null,
    })),
    conversation: kept,
    timeline: timeline.spans,
  };
}

/** Every run has one message of its user: those before the run's, and its own with what the agent replied. */
function messagesAround(messages: readonly HistoryMessageWire[], place: number) {
  const asked = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const from = asked[place] ?? messages.length;
  return { before: messages.slice(0, from), own: messages.slice(from, asked[place + 1] ?? messages.length) };
}

function chatOf({ content, attachments }: HistoryMessageWire): ChatMessage[] {
  const { _type: kind, content: blocks } = content;
  if (kind === 'AssistantMessage') return stepsOf(blocks);
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const files = attachments.map(({ name, mime_type: type, size }) => `[attached: ${name}, ${type}, ${size} bytes]`);
  return [{ role: 'user', content: [...texts, ...files].join('\n') }];
}

/** A text or a call after a result begins the next step. */
function stepsOf(blocks: readonly AssistantBlockWire[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let said: { text: string | null; calls: ChatCall[] } | null = null;
  const flush = () => {
    if (said === null) return;
    const { text, calls } = said;
    messages.push({ role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) });
    said = null;
  };
  for (const block of blocks) {
    if (block.type === 'tool_result') {
      flush();
      messages.push({ role: 'tool', tool_call_id: block.tool_use_id, content: block.content });
      continue;
    }
    if (block.type === 'text') {
      flush();
      said = { text: block.text, calls: [] };
      continue;
    }
    const { id, name, input } = block;
    said ??= { text: null, calls: [] };
    said.calls.push({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } });
  }
  flush();
  return messages;
}

function newest(messages: readonly ChatMessage[]): { kept: ChatMessage[]; leftOut: number } {
  let left = MAX_CHARACTERS;
  let first = messages.length;
  while (first > 0 && (left -= JSON.stringify(messages[first - 1]).length) >= 0) first -= 1;
  return { kept: messages.slice(first), leftOut: first };
}
