// The export of a run as administrators read it.
import type { ChatMessage } from '../../operations/turns/chat-messages.ts';
import type { RunExport } from '../../operations/turns/export-run.ts';
import type { ChatMessageWire, RunExportWire } from '../../wire/sessions/run-export.ts';
import { renderTimeline } from './timeline-wire.ts';

const README = [
  'What the model was asked in one run of Errand. The request of a step is "system", then the first "messages" of "conversation".',
  'EXACT: texts of the user and the agent, tool calls with their arguments, results of tools, their order, the output schema, tokens, times.',
  'AS OF TODAY: "system" and "tools" are what the agent would get now; facts of the day and notes of tools are not in "system".',
  'LEFT OUT: tools of MCP servers, skills, the browser, connections and delegation; images, the texts of documents, reasoning, and what',
  'sub-agents were asked. When the details of old runs were removed, so are their tool calls.',
  'NOT AS IT WAS SENT: in a long conversation the model had a summary instead of the oldest part, and long results of tools were',
  'shortened (spans of the kind "compaction" say when). A server may give another answer to the same request.',
  'Secrets that the daemon holds, and what has the form of one, are replaced by [credential] or [removed].',
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
    system: exported.instructions,
    tools: exported.tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
    output_schema: exported.outputSchema,
    older_left_out: exported.isCut,
    requests: exported.requests.map(({ step, messages }) => ({
      step,
      messages,
      model: replies.get(step)?.model ?? run.model,
      input_tokens: replies.get(step)?.input_tokens ?? null,
      output_tokens: replies.get(step)?.output_tokens ?? null,
      first_token_ms: replies.get(step)?.timing?.first_token_ms ?? null,
    })),
    conversation: exported.conversation.map(renderChatMessage),
    timeline: spans,
  };
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
