// Stores what an agent's browser showed at a tool call (G7).
import { MB } from '../../../domain/byte-units.ts';
import { ErrandError } from '../../../domain/errors.ts';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { Store } from '../../../store/open-store.ts';
import type { RunServices } from '../../run-services.ts';

const MAX_BYTES = 8 * MB;
const MIME_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);

export interface ScreenshotParts {
  readonly store: Pick<Store, 'screenshots' | 'sessions'>;
  readonly blobs: BlobStore;
}

/** Makes the service. Throws `too_large`, or `conflict` when the run no longer belongs to this attempt. */
export function makeKeepScreenshot({ store, blobs }: ScreenshotParts): RunServices['keep_screenshot'] {
  return async (run, { callId, mimeType, bytes }) => {
    if (!MIME_TYPES.has(mimeType)) throw new ErrandError('bad_request', 'The picture must be a PNG or a JPEG.');
    if (bytes.byteLength > MAX_BYTES) throw new ErrandError('too_large', 'The picture is too large to be stored.');
    // A sub-agent's screenshot belongs to the call that it works for.
    const toolUseId = callId.split('/')[0]!;
    const hold = blobs.hold();
    let unused: string | null = null;
    try {
      const sha256 = await hold.put(bytes);
      unused = sha256;
      const screenshot = { toolUseId, sha256, mimeType, size: bytes.byteLength };
      const contents = await hold.contents.read([sha256]);
      const { held, replaced } = await store.screenshots.keep(run, screenshot, contents);
      if (!held) throw new ErrandError('conflict', 'The run is over.');
      unused = replaced;
      return { sha256 };
    } finally {
      hold.release();
      if (unused !== null) await blobs.removeUnless(unused, store.sessions.isBlobInUse);
    }
  };
}
