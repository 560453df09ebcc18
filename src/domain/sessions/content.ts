// The parts of a message, independent of either wire protocol.
import type { JsonObject } from '../json.ts';

/** A stored attachment of a turn (E2). */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  /** Where the API finds it again: `attachments/<uuid>/<name>` (C4). */
  readonly path: string;
  /** Where the agent finds it in its workspace: `/uploads/<name>`. */
  readonly workspacePath: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex; also the key of the blob. */
  readonly sha256: string;
}

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  /** Set on what a client says that was said before (M1). */
  readonly quoted?: true;
}

/** The position of an attachment in the user's text. */
export interface AttachmentBlock {
  readonly type: 'attachment';
  readonly attachmentId: string;
  readonly media: 'image' | 'file';
}

export type UserBlock = TextBlock | AttachmentBlock;

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly ok: boolean;
  readonly output: string;
}

export type AssistantBlock = TextBlock | ToolUseBlock | ToolResultBlock;

/** One message of a session's history. `id` is the integer of §2.7. */
export type Message = {
  readonly id: number;
  readonly textPreview: string;
  readonly attachments: readonly Attachment[];
  readonly createdAt: number;
} & (
  | { readonly role: 'user'; readonly content: readonly UserBlock[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[] }
);

const PREVIEW_CHARACTERS = 200;
const TITLE_CHARACTERS = 80;

/** The whole text of a message's text blocks, a line break between blocks. */
export function textOf(blocks: readonly (UserBlock | AssistantBlock)[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** The text of a user's message, without what was said before (M1). */
export function newTextOf(blocks: readonly UserBlock[]): string {
  return textOf(blocks.filter((block) => block.type !== 'text' || block.quoted !== true));
}

/** The start of a text on one line, for lists (§2.7). */
export function previewOf(text: string): string {
  return firstCharacters(text, PREVIEW_CHARACTERS);
}

/** A session's title: the first 80 characters of the first user text, one line (E1). */
export function titleOf(text: string): string {
  return firstCharacters(text, TITLE_CHARACTERS);
}

/** All blanks but single spaces, which most texts have only. */
const ODD_BLANKS = /\s{2,}|[^\S ]/g;

function firstCharacters(text: string, count: number): string {
  // Cut before collapsing blanks, so that a 100 MB message costs no more than a short one.
  const start = text
    .slice(0, count * 8)
    .replace(ODD_BLANKS, ' ')
    .trim();
  return startOf(start, count).trimEnd();
}

/** The first characters of a text, as Unicode counts them. */
export function startOf(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left -= 1) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}
