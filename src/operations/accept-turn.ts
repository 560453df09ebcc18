// Accepting a turn: where both protocols meet. After it resolves, the run survives anything (D7).
import { randomUUID } from 'node:crypto';
import { type AttachmentBlock, previewOf, textOf, titleOf, type UserBlock } from '../domain/content.ts';
import { ErrandError, notFound } from '../domain/errors.ts';
import type { KeyCaller } from '../domain/user.ts';
import type { BlobStore } from '../files/blobs.ts';
import type { NewAttachment } from '../store/accept-run.ts';
import type { Store } from '../store/open-store.ts';
import { getOwnSession } from './own-session.ts';
import { safeName } from './safe-name.ts';
import type { AcceptedTurn, InputBlock, TurnInput } from './turn.ts';

export interface AcceptParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly queue: { wake(): void; slotFree(): boolean };
  /** Whether the daemon is shutting down: new work is refused. */
  draining(): boolean;
}

/**
 * Makes the verb. Throws `not_found` or `forbidden` for a session that is not the key's (§1 rule 7), `not_found` for an
 * unknown stored attachment, `unavailable` while the daemon drains or its disk refuses to write.
 */
export function makeAcceptTurn({ store, blobs, queue, draining }: AcceptParts) {
  return async (caller: KeyCaller, input: TurnInput): Promise<AcceptedTurn> => {
    if (draining()) throw new ErrandError('unavailable', 'The server is restarting.');
    if (input.sessionId !== null) await getOwnSession(store, caller, input.sessionId);
    const { content, attachments } = await storeContent({ store, blobs, caller }, input.content);
    const text = textOf(content);
    const accepted = store.runs.accept({
      user: caller.user,
      key: caller.key,
      protocol: input.protocol,
      requestedModel: input.model,
      includeUsage: input.includeUsage,
      sessionId: input.sessionId,
      title: titleOf(text) || attachments[0]?.name || 'Untitled',
      idempotencyKey: input.idempotencyKey,
      content,
      preview: previewOf(text),
      attachments,
      slotFree: queue.slotFree,
    });
    // Asked for before the commit, so that a run which can start at once is claimed in the same commit.
    queue.wake();
    const acceptance = await accepted;
    if (acceptance.kind === 'session_gone') throw notFound('Session');
    return { session: acceptance.session, run: acceptance.run, replayed: acceptance.kind === 'replayed' };
  };
}

interface ContentParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly caller: KeyCaller;
}

/** Turns input blocks into message content, with the bytes of uploads stored as blobs. */
async function storeContent(
  parts: ContentParts,
  blocks: readonly InputBlock[],
): Promise<{ content: UserBlock[]; attachments: NewAttachment[] }> {
  const content: UserBlock[] = [];
  const attachments: NewAttachment[] = [];
  for (const block of blocks) {
    if (block.type === 'text') {
      content.push(block);
      continue;
    }
    const attachment = block.type === 'upload' ? await storeUpload(parts, block) : await reuse(parts, block);
    attachments.push(attachment);
    const reference: AttachmentBlock = { type: 'attachment', attachmentId: attachment.id, media: block.media };
    content.push(reference);
  }
  return { content, attachments };
}

async function storeUpload(
  { blobs }: ContentParts,
  block: Extract<InputBlock, { type: 'upload' }>,
): Promise<NewAttachment> {
  const id = randomUUID();
  const name = safeName(block.name, block.mimeType);
  const sha256 = await blobs.put(block.bytes).catch((error: unknown) => {
    throw new ErrandError('unavailable', "The daemon's storage refuses to write.", { cause: error });
  });
  return {
    id,
    name,
    path: `attachments/${id}/${name}`,
    mimeType: block.mimeType,
    size: block.bytes.byteLength,
    sha256,
  };
}

async function reuse(
  { store, caller }: ContentParts,
  block: Extract<InputBlock, { type: 'stored' }>,
): Promise<NewAttachment> {
  const found = await store.sessions.findAttachment(caller.user.seq, block.path);
  if (found === undefined) throw notFound('Attachment');
  return { ...found, id: randomUUID() };
}
