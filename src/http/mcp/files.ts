// The tools on files, and what `resources/read` reads.
import { KB, MB } from '../../domain/byte-units.ts';
import { decodeAs } from '../../domain/charsets/charset-text.ts';
import { type Charset, wideCharset } from '../../domain/charsets/detect-charset.ts';
import { ErrandError, notFound } from '../../domain/errors.ts';
import { isTerminal } from '../../domain/sessions/run.ts';
import type { Operations } from '../../operations/operations.ts';
import type { FileLeaf } from '../../operations/sessions/file-nodes.ts';
import type { OpenedOwnFile } from '../../operations/sessions/own-files.ts';
import { fileList, filePart, LISTED_FILES, type listInput, type readInput } from '../../wire/mcp/files.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import { addressOfFile, type Resource } from './addresses.ts';
import type { Link, ToolCall, ToolResult } from './call.ts';

/** Bytes of a text that a model is given at once. */
const PART_BYTES = 48 * KB;
/** Bytes of a picture, and of what is read whole. */
const WHOLE_BYTES = MB;
/** What bytes take until they are sent, as a multiple: as they are, in Base64, and as JSON. */
const HELD_PER_BYTE = 5;
/** Links in one listing; all files are in its output. */
const LINKED_FILES = 50;
const PICTURES: ReadonlySet<string | null> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** What is looked at to tell UTF-16. */
const HEAD_BYTES = 8 * KB;
/** What a character of UTF-8 may have behind its first byte. */
const LONGEST_TAIL = 3;

/** What an address has. */
export type ResourceContents = {
  readonly mimeType?: string;
} & ({ readonly text: string } | { readonly blob: string });

/** The tools, by their names. */
export function makeFileTools(operations: Operations) {
  return {
    list_files: async (call: ToolCall, asked: Static<typeof listInput>): Promise<ToolResult> => {
      // One more says whether there are others.
      const query = { ...asked, limit: LISTED_FILES + 1 };
      const { sessionId, status, files } = await operations.listOwnFiles(call.caller, query);
      const listed = files.slice(0, LISTED_FILES);
      const told = listed.map((file) => ({ ...fieldsOf(call, sessionId, file), change: file.change }));
      const nextAfter = files.length > LISTED_FILES ? listed.at(-1)!.path : null;
      const output = fileList.render({ status, files: told, nextAfter });
      return { output, links: listed.slice(0, LINKED_FILES).map((file) => linkTo(sessionId, file)) };
    },

    read_file: async (call: ToolCall, { sessionId, path, offset }: Static<typeof readInput>): Promise<ToolResult> => {
      const opened = await operations.openOwnFile(call.caller, sessionId, path);
      try {
        return await readPart(call, opened, offset);
      } finally {
        await opened.blob.close();
      }
    },
  };
}

/** Makes what reads an address. Throws as `openOwnFile` and `getRun` do, and `too_large`. */
export function makeReadResource(operations: Operations) {
  async function textOf({ caller }: ToolCall, kind: 'answer' | 'result', runId: string): Promise<ResourceContents> {
    const run = await operations.getRun(caller, runId);
    const answer = isTerminal(run.status) ? run.answer : null;
    const text = kind === 'answer' ? answer : run.structuredOutput && JSON.stringify(run.structuredOutput.value);
    if (text === null) throw notFound(kind === 'answer' ? 'Answer' : 'Result');
    return { mimeType: kind === 'answer' ? 'text/markdown' : 'application/json', text };
  }

  return async (call: ToolCall, resource: Resource): Promise<ResourceContents> => {
    if (resource.kind !== 'file') return textOf(call, resource.kind, resource.runId);
    const opened = await operations.openOwnFile(call.caller, resource.sessionId, resource.path);
    try {
      const { file } = opened;
      if (file.size > WHOLE_BYTES) throw new ErrandError('too_large', wordsFor(call, file));
      const bytes = await readBytes(call, opened, 0, file.size);
      const mimeType = file.mimeType ?? undefined;
      const text = textIn(bytes, wideCharset(bytes), true)?.text;
      return { ...(mimeType && { mimeType }), ...(text === undefined ? { blob: bytes.toString('base64') } : { text }) };
    } finally {
      await opened.blob.close();
    }
  };
}

const wordsFor = ({ exchange }: ToolCall, { size, downloadAddress }: FileLeaf) =>
  `The file has ${size} bytes, more than the ${WHOLE_BYTES} that are sent this way. Download it within a quarter of an hour: ${exchange.bases.own}${downloadAddress}`;

async function readPart(call: ToolCall, opened: OpenedOwnFile, offset: number): Promise<ToolResult> {
  const { sessionId, file } = opened;
  const render = (text: string | null, nextOffset: number | null, charset: Charset | null = null) =>
    filePart.render({ ...fieldsOf(call, sessionId, file), text, charset, nextOffset });
  if (PICTURES.has(file.mimeType) && file.size <= WHOLE_BYTES) {
    const data = (await readBytes(call, opened, 0, file.size)).toString('base64');
    return { output: render(null, null), picture: { data, mimeType: file.mimeType! } };
  }
  const wide = wideCharset(await readBytes(call, opened, 0, HEAD_BYTES));
  const start = Math.min(wide === undefined ? offset : offset - (offset % 2), file.size);
  const bytes = await readBytes(call, opened, start, PART_BYTES);
  const isEnd = start + bytes.length >= file.size;
  const read = textIn(bytes, wide, isEnd);
  const links = [linkTo(sessionId, file)];
  if (read === undefined) return { output: render(null, null), links };
  return { output: render(read.text, isEnd ? null : start + read.length, wide ?? 'utf-8'), links };
}

async function readBytes({ exchange }: ToolCall, { blob }: OpenedOwnFile, from: number, most: number): Promise<Buffer> {
  const length = Math.min(most, blob.size - from);
  exchange.takeRoom(length * HELD_PER_BYTE);
  const bytes = Buffer.alloc(length);
  if (length > 0) await blob.read(bytes, from);
  return bytes;
}

interface TextPart {
  readonly text: string;
  readonly length: number;
}

/** The text of UTF-8 or a wide charset up to its last whole character, and the bytes that it takes; undefined where it is none. */
function textIn(bytes: Buffer, wide: Charset | undefined, isEnd: boolean): TextPart | undefined {
  if (wide !== undefined) {
    const length = isEnd || !endsWithinPair(bytes, wide) ? bytes.length : bytes.length - 2;
    return { text: decodeAs(bytes.subarray(0, length), wide), length };
  }
  if (bytes.includes(0)) return undefined;
  for (let cut = 0; cut <= (isEnd ? 0 : LONGEST_TAIL); cut += 1) {
    const whole = bytes.subarray(0, bytes.length - cut);
    try {
      return { text: STRICT.decode(whole), length: whole.length };
    } catch {
      // Perhaps it ends within a character.
    }
  }
  return undefined;
}

/** Whether the other half of its last character comes after it, in UTF-16. */
function endsWithinPair(bytes: Buffer, wide: Charset): boolean {
  const high = bytes.at(wide === 'utf-16le' ? -1 : -2) ?? 0;
  return high >= 0xd8 && high <= 0xdb;
}

const STRICT = new TextDecoder('utf-8', { fatal: true });

const fieldsOf = ({ exchange }: ToolCall, sessionId: string, { path, size, mimeType, downloadAddress }: FileLeaf) => ({
  path,
  size,
  mimeType,
  uri: addressOfFile(sessionId, path),
  downloadUrl: exchange.bases.own + downloadAddress,
});

const linkTo = (sessionId: string, { path, name, mimeType, size }: FileLeaf): Link => ({
  uri: addressOfFile(sessionId, path),
  name,
  mimeType,
  size,
});
