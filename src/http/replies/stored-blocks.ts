// The blocks of a long message as they are stored, without parsing them.
import type { AttachmentBlock } from '../../domain/sessions/content.ts';
import { Streamed } from './json-pieces.ts';
import { decoded } from './stored-text.ts';

/** How a block begins where it is stored. Within a text, its quotes would be escaped. */
const STORED_BLOCK = '{"type":"';
const STORED_TEXT = '{"type":"text"';

/** How blocks are told that have not been parsed. */
interface Telling<W> {
  /** The type that texts have there. */
  readonly textType: string;
  readonly render: (block: AttachmentBlock) => W;
}

/** A user's blocks that have not been parsed: their texts are sent as they are stored. */
export function storedBlocks<W>(json: Buffer, { textType, render }: Telling<W>): Streamed<readonly W[]> {
  return new Streamed(async function* () {
    for (let at = 0; at < json.length; ) {
      const start = json.indexOf(STORED_BLOCK, at);
      yield* decoded(json.subarray(at, start === -1 ? json.length : start));
      if (start === -1) return;
      const isText = json.toString('utf8', start, start + STORED_TEXT.length) === STORED_TEXT;
      at = isText ? start + STORED_TEXT.length : json.indexOf('}', start) + 1;
      if (isText) yield `${STORED_BLOCK}${textType}"`;
      else yield JSON.stringify(render(JSON.parse(json.toString('utf8', start, at)) as AttachmentBlock));
    }
  });
}
