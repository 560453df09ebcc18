// The attachments of an exported conversation: images as they were uploaded, documents as the text that a model can be shown.
import { endsOf } from '../../../agent/documents/excerpt.ts';
import { MB } from '../../../domain/byte-units.ts';
import type { Attachment } from '../../../domain/sessions/content.ts';
import type { Pause } from '../../../domain/loop/slices.ts';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { Blot } from '../../../outbound/secrets/blot.ts';
import type { Store } from '../../../store/open-store.ts';
import type { StoredTurn } from '../../../store/sessions/stored-turn.ts';

/** `characters`: length of the whole text, of which a long one has its start and end only. */
export type FileContent =
  | { readonly kind: 'image'; readonly bytes: Buffer }
  | { readonly kind: 'text'; readonly text: string; readonly characters: number }
  | { readonly kind: 'none'; readonly why: string };

/** A content, by its hash; attachments that are the same have one. */
export interface ExportedFile extends Pick<Attachment, 'sha256' | 'mimeType' | 'size'> {
  readonly content: FileContent;
}

export interface FileParts {
  readonly store: Pick<Store, 'documents'>;
  readonly blobs: Pick<BlobStore, 'read'>;
}

/** What no server takes as an image is left out, as it was. */
const MAX_IMAGE_BYTES = 3_932_160;
/** Of all images, and of all texts: the newest first. */
const MAX_IMAGES_BYTES = 8 * MB;
const MAX_TEXTS_BYTES = 2 * MB;
const MAX_FILES = 1_000;

const NO_ROOM = 'the export has no room for it';

/** The files of some turns, newest first. Texts are blotted; bytes of images can't be. */
export async function filesOf(parts: FileParts, turns: readonly StoredTurn[], blot: Blot, pause: Pause) {
  const attachments = turns.toReversed().flatMap((turn) => turn.attachments);
  const contents = new Map(attachments.map((attachment) => [attachment.sha256, attachment]));
  const files: ExportedFile[] = [];
  let [imageBytes, textBytes] = [MAX_IMAGES_BYTES, MAX_TEXTS_BYTES];
  for (const { sha256, mimeType, size } of [...contents.values()].slice(0, MAX_FILES)) {
    const isImage = mimeType.startsWith('image/');
    const content = await (isImage
      ? imageOf(parts, { sha256, size }, imageBytes)
      : textOf(parts, { sha256, blot }, textBytes));
    if (content.kind === 'image') imageBytes -= content.bytes.length;
    if (content.kind === 'text') textBytes -= Buffer.byteLength(content.text);
    files.push({ sha256, mimeType, size, content });
    await pause();
  }
  return files;
}

async function imageOf(
  { blobs }: FileParts,
  { sha256, size }: Pick<Attachment, 'sha256' | 'size'>,
  room: number,
): Promise<FileContent> {
  if (size > MAX_IMAGE_BYTES) return { kind: 'none', why: 'no model is shown an image of this size' };
  if (size > room) return { kind: 'none', why: NO_ROOM };
  const bytes = await blobs.read(sha256).catch(() => null);
  return bytes === null ? { kind: 'none', why: 'it could not be read' } : { kind: 'image', bytes };
}

async function textOf(
  { store }: FileParts,
  { sha256, blot }: { readonly sha256: string; readonly blot: Blot },
  room: number,
): Promise<FileContent> {
  // A text has at most so many characters: the last one that is taken may exceed the room by that.
  if (room <= 0) return { kind: 'none', why: NO_ROOM };
  const known = await store.documents.find(sha256);
  if (known === undefined) return { kind: 'none', why: 'it has no text' };
  if ('fault' in known) return { kind: 'none', why: `it ${known.fault}` };
  const { text, characters } = endsOf(known.text);
  return { kind: 'text', text: blot(text), characters };
}
