// A session's history as the API returns it (§2.7, E2).
import type { AssistantBlock, Attachment, UserBlock } from '../../domain/sessions/content.ts';
import type { Portions } from '../../domain/portions.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { HistoryMessage } from '../../operations/sessions/history.ts';
import type { StoredBlock } from '../../store/runs/replies.ts';
import type {
  AssistantBlockWire,
  AttachmentWire,
  HistoryMessageWire,
  HistoryWire,
  UserBlockWire,
} from '../../wire/sessions/history.ts';
import { type Streamable, type StreamableFields, streamedList } from '../replies/json-pieces.ts';
import { storedBlocks } from '../replies/stored-blocks.ts';
import { storedJson, streamedText } from '../replies/stored-text.ts';

/** A session's messages, in the given order, oldest first. */
export function renderHistory(history: {
  readonly sessionId: string;
  readonly messages: Portions<HistoryMessage>;
}): Streamable<HistoryWire> {
  return { session_id: history.sessionId, messages: streamedList(history.messages, renderMessage) };
}

/** One of them. */
export function renderMessage(message: HistoryMessage): StreamableFields<HistoryMessageWire> {
  const { id, textPreview } = message;
  return { id, role: message.role, text_preview: textPreview, ...contentOf(message) };
}

function contentOf(message: HistoryMessage): StreamableFields<Pick<HistoryMessageWire, 'content' | 'attachments'>> {
  if ('replies' in message)
    return {
      content: { _type: 'AssistantMessage', content: streamedList(message.replies, renderStoredBlock) },
      attachments: [],
    };
  const attachments = message.attachments.map(renderAttachment);
  if ('blocks' in message) {
    const { blocks, attachments: own } = message;
    const content = storedBlocks(blocks, { textType: 'text', render: (block) => renderUserBlock(block, own) });
    return { content: { _type: 'UserMessage', content }, attachments };
  }
  if (message.role === 'assistant')
    return { content: { _type: 'AssistantMessage', content: message.content.map(renderAssistantBlock) }, attachments };
  const blocks = message.content.map((block) => renderUserBlock(block, message.attachments));
  return { content: { _type: 'UserMessage', content: blocks }, attachments };
}

function renderStoredBlock(block: StoredBlock): Streamable<AssistantBlockWire> {
  if (block.type === 'text') return { type: 'text', text: streamedText(block.text) };
  if (block.type === 'tool_use') {
    const { id, name, input } = block;
    return { type: 'tool_use', id, name, input: storedJson<JsonObject>(input) };
  }
  const { toolUseId, ok, output } = block;
  return { type: 'tool_result', tool_use_id: toolUseId, is_error: !ok, content: streamedText(output) };
}

function renderUserBlock(block: UserBlock, attachments: readonly Attachment[]): UserBlockWire {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const attachment = attachments.find(({ id }) => id === block.attachmentId);
  return {
    type: block.media,
    attachment_id: block.attachmentId,
    file_name: attachment?.name ?? null,
    path: attachment?.path ?? null,
  };
}

function renderAssistantBlock(block: AssistantBlock): AssistantBlockWire {
  if (block.type === 'text') return { type: 'text', text: block.text };
  if (block.type === 'tool_use') return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
  return { type: 'tool_result', tool_use_id: block.toolUseId, is_error: !block.ok, content: block.output };
}

function renderAttachment(attachment: Attachment): AttachmentWire {
  return {
    id: attachment.id,
    name: attachment.name,
    path: attachment.path,
    mime_type: attachment.mimeType,
    size: attachment.size,
    sha256: attachment.sha256,
  };
}
