// The script and the stylesheet of Office Mode in a browser, as they were built beside the program (0054).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { codeOf, ErrandError, notFound } from '../../../domain/errors.ts';
import { isKnown } from '../../files/conditions.ts';
import type { Exchange } from '../../frame/exchange.ts';
import { writeHead } from '../../replies/head.ts';

const TYPES = {
  'office.js': 'text/javascript; charset=utf-8',
  'office.css': 'text/css; charset=utf-8',
} as const;
export type AssetName = keyof typeof TYPES;

interface Asset {
  readonly hash: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
}

const BUILT = new URL('../../../browser/', import.meta.url);
const HASH_CHARACTERS = 12;

const isName = (name: string): name is AssetName => Object.hasOwn(TYPES, name);

/** The files of a folder; each is read when it is first asked for, and kept. */
export function makeAssets(folder = BUILT) {
  const kept = new Map<AssetName, Asset>();

  function assetOf(name: AssetName): Asset | undefined {
    const known = kept.get(name) ?? read(new URL(name, folder));
    if (known !== undefined) kept.set(name, known);
    return known;
  }

  return {
    /** The address of a file below the root: another one when its content is another. */
    addressOf: (name: AssetName): string => {
      const asset = assetOf(name);
      return asset === undefined ? `assets/${name}` : `assets/${name}?v=${asset.hash}`;
    },

    /** Sends a file. Throws `not_found` when it wasn't built, or there is none of the name. */
    send: async ({ req, res, params }: Exchange): Promise<undefined> => {
      const name = params['name'] ?? '';
      if (!isName(name)) throw notFound('File');
      const asset = assetOf(name);
      if (asset === undefined)
        throw new ErrandError('not_found', `${name} was not built with this daemon: run npm run build.`);
      const isZipped = /\bgzip\b/.test(req.headers['accept-encoding'] ?? '');
      const bytes = isZipped ? asset.gzipped : asset.bytes;
      // A node of another version may be asked, which has another file of this name.
      const isAsAsked = req.url?.endsWith(`?v=${asset.hash}`) === true;
      const etag = `"${asset.hash}${isZipped ? '-gzip' : ''}"`;
      const headers = {
        ETag: etag,
        'Cache-Control': isAsAsked ? 'public, max-age=31536000, immutable' : 'no-cache',
        Vary: 'Accept-Encoding',
      };
      if (isKnown(req.headers, { etag, lastModified: null })) {
        writeHead(res, 304, headers);
        res.end();
        return;
      }
      writeHead(res, 200, {
        ...headers,
        'Content-Type': TYPES[name],
        'Content-Length': bytes.length,
        ...(isZipped && { 'Content-Encoding': 'gzip' }),
      });
      res.end(bytes);
    },
  };
}

export type Assets = ReturnType<typeof makeAssets>;

function read(file: URL): Asset | undefined {
  try {
    const bytes = readFileSync(file);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_CHARACTERS);
    return { hash, bytes, gzipped: gzipSync(bytes, { level: 9 }) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
