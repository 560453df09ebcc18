// What a bucket does with blobs: puts, gets, lists and removes them under their keys.
import { createReadStream } from 'node:fs';
import { MB } from '../../../domain/byte-units.ts';
import type { ServedAs } from '../open-blob.ts';
import { putParts } from './multipart.ts';
import { makeS3Requests, readText, type S3Reply, type S3RequestParts, type S3Requests } from './requests.ts';
import { S3Error } from './s3-error.ts';
import { presigned } from './sign.ts';
import { addressOf, encryptionHeaders, objectName, PIECE_BYTES, type S3Target } from './target.ts';
import { eachIn, textIn } from './xml.ts';

/** A blob in a file. */
export interface StoredFile {
  readonly key: string;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

export interface ListedObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

/** Each verb rejects with `S3Error`. */
export interface Bucket {
  /** Stores a blob; the service verifies its bytes. One that is there already is replaced by the same. */
  put(file: StoredFile, signal?: AbortSignal): Promise<void>;
  /** Has a blob's bytes read from an offset on; after a break, from the new offset on. Rejects with status 404 when there is none. */
  get(from: { readonly key: string; offset(): number }, read: (reply: S3Reply) => Promise<void>): Promise<void>;
  /** The size of a blob; null when there is none. */
  sizeOf(key: string): Promise<number | null>;
  /** Removes a blob, if it is there. */
  remove(key: string): Promise<void>;
  /** All blobs whose keys come after one, in the order of their keys. */
  list(after?: string): AsyncGenerator<ListedObject>;
  /** An address that anyone can read the blob at, for so many seconds. */
  addressFor(key: string, seconds: number, as: ServedAs): Promise<string>;
  close(): Promise<void>;
}

/** Larger files are put in parts. */
const SINGLE_BYTES = 16 * MB;
const MAX_PAGE_BYTES = 4 * MB;
const PAGE_OBJECTS = 1_000;
const KEY = /([0-9a-f]{64})$/;

/** Makes the verbs. Nothing is opened before the first request. */
export function makeBucket(parts: S3RequestParts): Bucket {
  const { target, clock } = parts;
  const requests = makeS3Requests(parts);
  const nameOf = (key: string) => objectName(target, key);
  return {
    put: async ({ key, path, size }, signal) => {
      const file = { name: nameOf(key), key, path, size };
      if (size > SINGLE_BYTES) return putParts(requests, target, file, signal);
      const open = () => (size === 0 ? new Uint8Array() : createReadStream(path, { highWaterMark: PIECE_BYTES }));
      await requests.send(
        {
          verb: 'put',
          deed: 'put an object',
          method: 'PUT',
          name: file.name,
          signal,
          headers: encryptionHeaders(target),
          body: { size, sha256: key, open },
        },
        ignored,
      );
    },
    get: async ({ key, offset }, read) => {
      const from = () => (offset() === 0 ? {} : { range: `bytes=${offset()}-` });
      await requests.send(
        () => ({
          verb: 'get',
          deed: 'get an object',
          method: 'GET',
          name: nameOf(key),
          headers: from(),
          awaits: 1_024 * MB,
        }),
        read,
      );
    },
    sizeOf: async (key) =>
      requests.send(
        { verb: 'head', deed: 'look at an object', method: 'HEAD', name: nameOf(key), alsoTakes: [404] },
        async ({ status, headers }) => (status === 404 ? null : Number(headers['content-length'] ?? 0)),
      ),
    remove: async (key) =>
      requests.send({ verb: 'delete', deed: 'remove an object', method: 'DELETE', name: nameOf(key) }, ignored),
    list: (after) => listObjects(requests, target, after),
    addressFor: async (key, seconds, as) => {
      const query = {
        'response-content-type': as.contentType,
        'response-content-disposition': as.disposition,
        'response-cache-control': as.cacheControl,
      };
      return presigned(target, { url: addressOf(target, nameOf(key), query), now: clock.now(), seconds });
    },
    close: requests.close,
  };
}

const ignored = async ({ body }: S3Reply): Promise<void> => void (await readText(body, MAX_PAGE_BYTES));

async function* listObjects(requests: S3Requests, target: S3Target, after = ''): AsyncGenerator<ListedObject> {
  const start: Record<string, string> = after === '' ? {} : { 'start-after': objectName(target, after) };
  for (let token: string | null = null; ; ) {
    const page = await requests.send(
      {
        verb: 'list',
        deed: 'list its objects',
        method: 'GET',
        name: '',
        query: {
          'list-type': '2',
          'max-keys': String(PAGE_OBJECTS),
          ...(target.prefix !== '' && { prefix: target.prefix }),
          ...(token === null ? start : { 'continuation-token': token }),
        },
      },
      async ({ body }) => readText(body, MAX_PAGE_BYTES),
    );
    for (const content of eachIn(page, 'Contents')) {
      const key = KEY.exec(textIn(content, 'Key') ?? '')?.[1];
      if (key !== undefined && textIn(content, 'Key') === objectName(target, key))
        yield { key, size: Number(textIn(content, 'Size')) };
    }
    if (textIn(page, 'IsTruncated') !== 'true') return;
    token = textIn(page, 'NextContinuationToken');
    if (token === null)
      throw new S3Error('The bucket lists a part of its objects, and not where the next one begins.', {
        status: 200,
        code: null,
        isPassing: false,
      });
  }
}
