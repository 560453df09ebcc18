// The export of a run as administrators read it.
import type { ChatMessage } from '../../operations/turns/exports/chat-messages.ts';
import type { ExportedSetup, RunExport } from '../../operations/turns/exports/export-run.ts';
import type { ExportedFile } from '../../operations/turns/exports/exported-files.ts';
import type { ChatMessageWire, ExportedFileWire, RunExportWire } from '../../wire/sessions/run-export.ts';
import { renderTimeline } from './timeline-wire.ts';

const README = [
  'What the model was asked in one run of Errand. The request of a step is the "system" and the "tools" of its "setup" (a place in',
  '"setups"), then the first "messages" of "conversation".',
  'EXACT: texts of the user and the agent, tool calls with their arguments, results of tools, their order, the output schema, tokens,',
  'times, and setups that are "recorded". Other setups are what the agent would get today, with built-in tools only: the run had no',
  'reply, is of an earlier version, or its details were removed, and with them its tool calls.',
  'FILES: lines "[attached: ...]" name the files of a message; "files" has each content once, by its sha256. A model was shown images',
  'if it takes them, and of documents as much as fitted its window, of which "text" has the longest that is ever shown.',
  'LEFT OUT: reasoning, what sub-agents were asked, PDFs that were sent as files, and whatever says "left_out".',
  'NOT AS IT WAS SENT: in a long conversation the model had a summary instead of the oldest part, and long results of tools were',
  'shortened (spans of the kind "compaction" say when). A server may give another answer to the same request.',
  'Secrets that the daemon holds, and what has the form of one, are replaced by [credential] or [removed]. Images are as they were.',
];

export function renderRunExport(exported: RunExport): RunExportWire {
  const { run, spans } = renderTimeline(exported);
  const replies = new Map(
    spans.flatMap((span) => (span.kind === 'model' && span.step != null ? [[span.step, span] as const] : [])),
  );
  return {
    format: 'errand-run-export',
    version: 1,
    readme: README,
    run,
    complete: run.finished_at !== null,
    model: exported.model,
    setups: exported.setups.map(renderSetup),
    output_schema: exported.outputSchema,
    older_left_out: exported.isCut,
    requests: exported.requests.map(({ step, messages }) => ({
      step,
      messages,
      setup: setupAt(exported.setups, step),
      model: replies.get(step)?.model ?? run.model,
      input_tokens: replies.get(step)?.input_tokens ?? null,
      output_tokens: replies.get(step)?.output_tokens ?? null,
      first_token_ms: replies.get(step)?.timing?.first_token_ms ?? null,
    })),
    conversation: exported.conversation.map(renderChatMessage),
    files: exported.files.map(renderFile),
    timeline: spans,
  };
}

function renderSetup({ step, isRecorded, system, tools, omitted }: ExportedSetup): RunExportWire['setups'][number] {
  return {
    from_step: step,
    recorded: isRecorded,
    system,
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
    tools_left_out: [...omitted],
  };
}

/** The last one that began before a step or with it; null when that is not known. */
function setupAt(setups: readonly ExportedSetup[], asked: number): number | null {
  const at = setups.findLastIndex(({ step }) => step <= asked);
  return at === -1 ? null : at;
}

function renderFile({ sha256, mimeType, size, content }: ExportedFile): ExportedFileWire {
  const facts = { sha256, mime_type: mimeType, size };
  if (content.kind === 'image') return { ...facts, base64: content.bytes.toString('base64') };
  if (content.kind === 'none') return { ...facts, left_out: content.why };
  return { ...facts, text: content.text, characters: content.characters };
}

function renderChatMessage(message: ChatMessage): ChatMessageWire {
  const { role, content } = message;
  if (role === 'tool') return { role, tool_call_id: message.callId, content };
  if (role === 'user' || message.calls.length === 0) return { role, content };
  const calls = message.calls.map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: input },
  }));
  return { role, content, tool_calls: calls };
}
