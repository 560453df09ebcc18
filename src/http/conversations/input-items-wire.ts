// The user's message of a run as the items of its input (M3).
import type { Attachment, UserBlock } from '../../domain/sessions/content.ts';
import { messageIdOf } from '../../domain/ids.ts';
import type { Portions } from '../../domain/portions.ts';
import type { HistoryMessage } from '../../operations/sessions/history.ts';
import type { InputBlockWire, InputItemsWire, InputItemWire } from '../../wire/responses/input-items.ts';
import { type Streamable, type StreamableFields, streamedList } from '../replies/json-pieces.ts';
import { storedBlocks } from '../replies/stored-blocks.ts';

/** The one item, unless the reader has it: `after` is the id of the last. */
export function renderInputItems(
  { runId, messages }: { readonly runId: string; readonly messages: Portions<HistoryMessage> },
  after: string | null,
): Streamable<InputItemsWire> {
  const id = `${messageIdOf(runId)}_input`;
  const list = { object: 'list', has_more: false } as const;
  if (after === id) return { ...list, data: [], first_id: null, last_id: null };
  return { ...list, data: streamedList(messages, (message) => itemOf(id, message)), first_id: id, last_id: id };
}

function itemOf(id: string, message: HistoryMessage): StreamableFields<InputItemWire> {
  return { id, type: 'message', status: 'completed', role: 'user', content: contentOf(message) };
}

function contentOf(message: HistoryMessage): StreamableFields<InputItemWire>['content'] {
  if (message.role !== 'user') return [];
  const render = (block: UserBlock) => blockOf(block, message.attachments);
  return 'blocks' in message
    ? storedBlocks(message.blocks, { textType: 'input_text', render })
    : message.content.map(render);
}

function blockOf(block: UserBlock, attachments: readonly Attachment[]): InputBlockWire {
  if (block.type === 'text') return { type: 'input_text', text: block.text };
  const { name = null, path = null } = attachments.find(({ id }) => id === block.attachmentId) ?? {};
  return block.media === 'image'
    ? { type: 'input_image', detail: 'auto', file_id: null, image_url: path }
    : { type: 'input_file', file_id: null, filename: name, file_data: path };
}
