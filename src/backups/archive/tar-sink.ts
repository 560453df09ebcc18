// A backup as a tar archive that is sent while it is made: what it unpacks to is a repository.
import { MB } from '../../domain/byte-units.ts';
import { makePackedKeys } from '../repository/packed-keys.ts';
import { type Added, keyOf, type Sink } from '../repository/sink.ts';
import { endOfTar, tarEntry } from './tar.ts';

/** Sent at once. */
const CHUNK_BYTES = MB;

/** Makes the archive. `send` resolves when the bytes were taken. */
export function makeTarSink(send: (bytes: Uint8Array) => Promise<void>): Sink {
  const added: Added = { objects: 0, bytes: 0 };
  const known = makePackedKeys();
  let chunks: Uint8Array[] = [];
  let bytes = 0;

  async function write(entry: readonly Uint8Array[]): Promise<void> {
    for (const part of entry) {
      chunks.push(Uint8Array.from(part));
      bytes += part.length;
    }
    if (bytes >= CHUNK_BYTES) await flush();
  }

  async function flush(): Promise<void> {
    const whole = Buffer.concat(chunks);
    chunks = [];
    bytes = 0;
    await send(whole);
  }

  return {
    put: async (piece) => {
      const key = keyOf(piece);
      if (!known.add(key)) return key;
      added.objects += 1;
      added.bytes += piece.length;
      await write(tarEntry(`objects/${key.slice(0, 2)}/${key}`, piece));
      return key;
    },
    finish: async (id, manifest) => {
      await write(tarEntry(`backups/${id}.json`, Buffer.from(manifest(added))));
      await write([endOfTar]);
      await flush();
    },
  };
}
