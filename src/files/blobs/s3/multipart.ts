// Puts a large file into a bucket in parts, which are read from the file as they are sent; begun parts are removed when it fails.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { MB } from '../../../domain/byte-units.ts';
import { readText, type S3Call, type S3Reply, type S3Requests } from './requests.ts';
import { S3Error } from './s3-error.ts';
import { encryptionHeaders, PIECE_BYTES, type S3Target } from './target.ts';
import { escapeXml, textIn } from './xml.ts';

interface PartedFile {
  /** Of the object. */
  readonly name: string;
  readonly key: string;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

/** The protocol takes parts of 5 MB and more, and 10,000 of them. */
const [PART_BYTES, MAX_PARTS] = [16 * MB, 10_000];
const MAX_REPLY_BYTES = MB;

/** Puts it, one part after another. Rejects with `S3Error`, also when the file's bytes aren't those of its key. */
export async function putParts(
  requests: S3Requests,
  target: S3Target,
  file: PartedFile,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { name } = file;
  const call = { verb: 'multipart', name, signal } satisfies Partial<S3Call>;
  const begin: S3Call = { ...call, deed: 'begin an object in parts', method: 'POST', query: { uploads: '' } };
  const begun = await requests.send({ ...begin, headers: encryptionHeaders(target) }, text);
  const uploadId = textIn(begun, 'UploadId');
  if (uploadId === null) throw unexpected('The bucket begins an object in parts, and gives it no id.');
  try {
    const etags = await putEach(requests, file, { uploadId, signal });
    const body = bytesOf(completionOf(etags));
    const complete: S3Call = { ...call, deed: 'complete an object', method: 'POST', query: { uploadId }, body };
    // A reply of success that took long may still end with an error.
    const reply = await requests.send(complete, async (reply) => {
      const xml = await text(reply);
      if (!xml.includes('<Error>')) return xml;
      throw unexpected(`The bucket did not complete an object (${textIn(xml, 'Code')}).`, true);
    });
    if (textIn(reply, 'ETag') === null) throw unexpected('The bucket does not say that it completed an object.');
  } catch (error) {
    const abort: S3Call = { ...call, deed: 'drop parts', method: 'DELETE', query: { uploadId }, alsoTakes: [404] };
    // What the administrator's rule for incomplete uploads removes, too; the first failure counts.
    await requests.send({ ...abort, signal: undefined }, text).catch(() => undefined);
    throw error;
  }
}

interface Upload {
  readonly uploadId: string;
  readonly signal: AbortSignal | undefined;
}

async function putEach(requests: S3Requests, { name, key, path, size }: PartedFile, { uploadId, signal }: Upload) {
  const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
  const whole = createHash('sha256');
  const etags: string[] = [];
  for (let start = 0; start < size; start += partBytes) {
    const end = Math.min(start + partBytes, size) - 1;
    const open = () => createReadStream(path, { start, end, highWaterMark: PIECE_BYTES });
    const sha256 = await hashOf(open(), whole);
    const query = { partNumber: String(etags.length + 1), uploadId };
    const etag = await requests.send(
      {
        verb: 'multipart',
        deed: 'put a part',
        method: 'PUT',
        name,
        query,
        signal,
        body: { size: end + 1 - start, sha256, open },
      },
      async (reply) => {
        await text(reply);
        return reply.headers['etag'];
      },
    );
    if (typeof etag !== 'string') throw unexpected('The bucket takes a part, and gives it no ETag.');
    etags.push(etag);
  }
  if (whole.digest('hex') !== key) throw unexpected('A file has other bytes than its key says.');
  return etags;
}

async function hashOf(pieces: AsyncIterable<Buffer>, whole: Hash): Promise<string> {
  const part = createHash('sha256');
  for await (const piece of pieces) {
    part.update(piece);
    whole.update(piece);
  }
  return part.digest('hex');
}

const completionOf = (etags: readonly string[]): string =>
  '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
  etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`).join('') +
  '</CompleteMultipartUpload>';

function bytesOf(content: string): NonNullable<S3Call['body']> {
  const bytes = Buffer.from(content);
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), open: () => bytes };
}

const text = async ({ body }: S3Reply): Promise<string> => readText(body, MAX_REPLY_BYTES);

const unexpected = (words: string, isPassing = false) => new S3Error(words, { status: 200, code: null, isPassing });
