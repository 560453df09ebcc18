// The stylesheet and the scripts of the pages, under names that contain a hash of their content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { notFound } from '../../domain/errors.ts';
import type { Exchange } from '../frame/exchange.ts';
import { writeHead } from '../replies/head.ts';

interface StaticFile {
  /** Such as `style.0f3a….css`. */
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** The parts of each, in order: in a stylesheet, what comes later overrides. */
const SOURCES = {
  'style.css': {
    contentType: 'text/css; charset=utf-8',
    parts: ['foundation', 'header', 'content', 'document', 'parts', 'board', 'message', 'media'].map(
      (part) => `style/${part}.css`,
    ),
  },
  'picker.js': { contentType: JAVASCRIPT, parts: ['picker.js'] },
  'table.js': { contentType: JAVASCRIPT, parts: ['table.js'] },
  'times.js': { contentType: JAVASCRIPT, parts: ['times.js'] },
} as const;
type Source = keyof typeof SOURCES;
export type Script = Exclude<Source, 'style.css'>;
const HASH_CHARACTERS = 12;

const read = new Map<Source, StaticFile>();

/** The address of a file: another one when its content is another. */
export function addressOf(source: Source): string {
  return `/share/static/${fileOf(source).name}`;
}

/** Sends the file of a name. Throws `not_found` when there is none, as after an upgrade. */
export async function sendStaticFile({ req, res, params }: Exchange): Promise<undefined> {
  const file = (Object.keys(SOURCES) as Source[]).map(fileOf).find(({ name }) => name === params['name']);
  if (file === undefined) throw notFound('File');
  const isZipped = /\bgzip\b/.test(req.headers['accept-encoding'] ?? '');
  const bytes = isZipped ? file.gzipped : file.bytes;
  writeHead(res, 200, {
    'Content-Type': file.contentType,
    'Content-Length': bytes.length,
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  });
  res.end(bytes);
}

/** Read at the first page, and kept. */
function fileOf(source: Source): StaticFile {
  let file = read.get(source);
  if (file === undefined) {
    const { contentType, parts } = SOURCES[source];
    const bytes = Buffer.concat(parts.map((part) => readFileSync(new URL(`static/${part}`, import.meta.url))));
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_CHARACTERS);
    const [stem, ending] = source.split('.') as [string, string];
    const name = `${stem}.${hash}.${ending}`;
    file = { name, contentType, bytes, gzipped: gzipSync(bytes, { level: 9 }) };
    read.set(source, file);
  }
  return file;
}
