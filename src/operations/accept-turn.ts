// Accepting a turn: where both protocols meet. After it resolves, the run survives anything (D7).
import { randomUUID } from 'node:crypto';
import { type AttachmentBlock, previewOf, textOf, titleOf, type UserBlock } from '../domain/content.ts';
import { ErrandError, notFound } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import { OUTPUT_SCHEMA_FIELD, schemaRefusal } from '../domain/output-schema.ts';
import type { KeyCaller } from '../domain/user.ts';
import type { SchemaCheck } from '../execution/schema-check.ts';
import type { BlobHold, BlobStore } from '../files/blobs.ts';
import type { Settings } from '../domain/settings.ts';
import type { NewAttachment } from '../store/accept-run.ts';
import type { BackgroundRefusal } from '../store/admit-background.ts';
import type { Store } from '../store/open-store.ts';
import { getOwnSession } from './own-session.ts';
import { safeName } from './safe-name.ts';
import type { AcceptedTurn, InputBlock, TurnInput } from './turn.ts';

export interface AcceptParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly queue: { wake(): void; slotFree(): boolean };
  readonly queueWait: { watch(): void };
  settings(): Settings;
  readonly schemas: Pick<SchemaCheck, 'check'>;
  /** Whether the daemon is shutting down: new work is refused. */
  draining(): boolean;
}

/**
 * Makes the verb. Throws `not_found` or `forbidden` for a session that is not the key's (§1 rule 7), `not_found` for an
 * unknown stored attachment, `unprocessable` for a schema that does not compile (C14), `unavailable` while the daemon
 * drains or its disk refuses to write; for a background run also `conflict` for a busy session, `rate_limited` over a
 * limit, `unavailable` without a place in the queue (D2).
 */
export function makeAcceptTurn({ store, blobs, queue, queueWait, settings, schemas, draining }: AcceptParts) {
  return async (caller: KeyCaller, input: TurnInput): Promise<AcceptedTurn> => {
    if (draining()) throw new ErrandError('unavailable', 'The server is restarting.');
    const earlier = await findSubmitted(store, caller, input);
    if (earlier !== undefined) return { run: earlier, replayed: true };
    if (input.outputSchema !== null) await requireSchema(schemas, input.outputSchema);
    if (input.sessionId !== null) await getOwnSession(store, caller, input.sessionId);
    const hold = blobs.hold();
    let fresh = false;
    try {
      const turn = await accept(caller, input, hold);
      fresh = !turn.replayed;
      return turn;
    } finally {
      const keys = hold.release();
      // A refused request leaves no file behind, nor does a repeated one (A1).
      if (!fresh) for (const key of keys) blobs.removeUnless(key, store.sessions.isBlobInUse);
    }
  };

  async function accept(caller: KeyCaller, input: TurnInput, hold: BlobHold): Promise<AcceptedTurn> {
    const { content, attachments } = await storeContent({ store, hold, caller }, input.content);
    const text = textOf(content);
    const accepted = store.runs.accept({
      user: caller.user,
      key: caller.key,
      protocol: input.protocol,
      requestedModel: input.model,
      includeUsage: input.includeUsage,
      outputSchema: input.outputSchema,
      sessionId: input.sessionId,
      title: titleOf(text) || attachments[0]?.name || 'Untitled',
      idempotencyKey: input.idempotencyKey,
      content,
      preview: previewOf(text),
      attachments,
      slotFree: queue.slotFree,
      background: input.background === null ? null : { ...input.background, limits: settings().background },
    });
    // Asked for before the commit, so that a run which can start at once is claimed in the same commit.
    queue.wake();
    const acceptance = await accepted;
    if (!('run' in acceptance)) throw REFUSALS[acceptance.kind]();
    if (input.background !== null) queueWait.watch();
    return { run: acceptance.run, replayed: acceptance.kind === 'replayed' };
  }
}

const REFUSALS: Readonly<Record<'session_gone' | BackgroundRefusal, () => ErrandError>> = {
  session_gone: () => notFound('Session'),
  session_busy: () => new ErrandError('conflict', 'The session has an unfinished run.'),
  key_limit: () => new ErrandError('rate_limited', 'This API key has too many unfinished background runs.'),
  user_limit: () => new ErrandError('rate_limited', 'This user has too many unfinished background runs.'),
  no_capacity: () => new ErrandError('unavailable', 'No worker is there to execute background runs.'),
  queue_full: () => new ErrandError('unavailable', 'The queue of background runs is full.'),
};

/** A repeated background submission finds its run whatever else it says: bodies are not compared (§4.3 rule 3). */
async function findSubmitted(store: Store, caller: KeyCaller, input: TurnInput) {
  if (input.background === null || input.idempotencyKey === null) return undefined;
  return store.runs.findBackground(caller.key.seq, input.idempotencyKey);
}

async function requireSchema(schemas: AcceptParts['schemas'], schema: JsonObject): Promise<void> {
  const fault = await schemas.check(schema);
  if (fault !== null) throw schemaRefusal(OUTPUT_SCHEMA_FIELD)(fault.pointer, fault.mustBe);
}

interface ContentParts {
  readonly store: Store;
  /** Keeps the bytes until the turn refers to them. */
  readonly hold: BlobHold;
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
  { hold }: ContentParts,
  block: Extract<InputBlock, { type: 'upload' }>,
): Promise<NewAttachment> {
  const id = randomUUID();
  const name = safeName(block.name, block.mimeType);
  const sha256 = await hold.put(block.bytes).catch((error: unknown) => {
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
  { store, hold, caller }: ContentParts,
  block: Extract<InputBlock, { type: 'stored' }>,
): Promise<NewAttachment> {
  const found = await store.sessions.findAttachment(caller.user.seq, block.path);
  if (found === undefined) throw notFound('Attachment');
  hold.add(found.sha256);
  return { ...found, id: randomUUID() };
}
