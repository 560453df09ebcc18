// How a model is shown an attachment: an image where it can see, words otherwise.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FilePart, TextPart } from 'ai';
import type { Attachment } from '../domain/content.ts';
import type { Brief } from './protocol.ts';

const SHOWN_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** An image part for an image that the model takes and that is still there as it was uploaded; else a note that names it. */
export async function attachmentPart(
  attachment: Attachment,
  media: 'image' | 'file',
  brief: Pick<Brief, 'model' | 'workspace'>,
): Promise<FilePart | TextPart> {
  if (media === 'image' && brief.model.images && SHOWN_TYPES.has(attachment.mimeType)) {
    const bytes = await readUploaded(attachment, brief.workspace);
    // As base64 once, not anew in each step.
    if (bytes !== null) return { type: 'file', data: bytes.toString('base64'), mediaType: attachment.mimeType };
  }
  return { type: 'text', text: noteOf(attachment) };
}

function noteOf({ name, workspacePath, mimeType, size }: Attachment): string {
  return `[Attachment "${name}": ${mimeType}, ${size} bytes, in the workspace at ${workspacePath}]`;
}

/**
 * The attachment's bytes, or null when the file is missing or no longer what was uploaded. The agent owns the workspace and may
 * have put a link or a pipe in the file's place: only bytes with the recorded hash are ever read back to a model.
 */
async function readUploaded(attachment: Attachment, workspace: string): Promise<Buffer | null> {
  if (attachment.size > MAX_IMAGE_BYTES) return null;
  try {
    await using file = await open(
      `${workspace}/${attachment.workspacePath}`,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const stat = await file.stat();
    if (!stat.isFile() || stat.size !== attachment.size) return null;
    const bytes = await file.readFile();
    return createHash('sha256').update(bytes).digest('hex') === attachment.sha256 ? bytes : null;
  } catch {
    return null;
  }
}
