// Published pages, against the real daemon: their content, a version of many files, and the board.
import { makeCaller } from '../calls.ts';
import { oneByOne, type Shot } from '../load.ts';
import { type ErrandServer, startErrand } from '../servers/start.ts';
import { fillBoard, fillWorkspace, type StoredFile } from '../stores/publish-rows.ts';
import { type Content, measureContents } from './contents.ts';
import { measureRepeated } from './reads.ts';
import type { Figures, Scale } from './scale.ts';

/** Room for the large file. */
const YAML = 'publish: { max_total_mb: 4096 }\n';
const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const KILOBYTE = 1_024;
const MEGABYTE = KILOBYTE * KILOBYTE;
const SMALL_BYTES = 4 * KILOBYTE;
const VERSION_FILES = 1_000;
const BOARD_PAGES = 10_000;
const PUBLIC = '/api/v1/public';

interface Bench {
  readonly errand: ErrandServer;
  readonly scale: Scale;
  readonly scratch: string;
  readonly failures: string[];
}

interface PageReply {
  readonly publish_key: string;
  readonly latest_share_code: string;
}

/** Runs every case on a separate daemon. Adds failures to `failures`. */
export async function measureShares(
  { modelUrl, scratch }: { readonly modelUrl: string; readonly scratch: string },
  scale: Scale,
  failures: string[],
): Promise<Figures> {
  const errand = await startErrand(modelUrl, scratch, YAML);
  const bench = { errand, scale, scratch, failures };
  try {
    const session = await fillSession(bench);
    const contents = await publishContents(bench, session);
    const { url, dataDir } = errand.daemon;
    return {
      ...(await measureContents({ ...errand, url, dataDir }, contents, { scale, failures, scratch })),
      ...(await measureVersion(bench, session)),
      ...(await measureBoard(bench, session)),
    };
  } finally {
    await errand.close();
  }
}

interface Filled {
  readonly sessionId: string;
  readonly keys: Readonly<Record<Content['name'], string>>;
  readonly largeBytes: number;
}

/** A session whose workspace has a site of many small files, and larger ones. */
async function fillSession({ errand, scale, failures }: Bench): Promise<Filled> {
  const { daemon, target } = errand;
  failures.push(...(await oneByOne(target, ANSWER, 1)).failures);
  const { items } = (await daemon.admin('GET', '/api/v1/sessions?limit=1')) as { items: { session_id: string }[] };
  const sessionId = items[0]!.session_id;
  const largeBytes = scale.packedMb * MEGABYTE;
  const files: StoredFile[] = [
    { path: '/medium.bin', bytes: piece(MEGABYTE, 1), size: MEGABYTE },
    { path: '/large.bin', bytes: pieces(scale.packedMb), size: largeBytes },
    ...Array.from({ length: VERSION_FILES }, (_, i) => {
      const path = i === 0 ? '/site/index.html' : `/site/part-${i % 10}/file-${i}.txt`;
      return { path, bytes: piece(SMALL_BYTES, i), size: SMALL_BYTES };
    }),
  ];
  await daemon.stop();
  const [medium = '', large = '', small = ''] = await fillWorkspace(daemon.dataDir, sessionId, files);
  await daemon.restart();
  return { sessionId, keys: { small, medium, large }, largeBytes };
}

/** Bytes that differ from those with any other number. */
function piece(bytes: number, number: number): Buffer {
  const text = Buffer.alloc(bytes, `Piece ${number}. `);
  text.write(`<!doctype html>${number} `);
  return text;
}

function* pieces(count: number): Generator<Buffer> {
  for (let i = 0; i < count; i += 1) yield piece(MEGABYTE, i);
}

async function publish(
  { errand }: Bench,
  fields: { readonly session_id: string; readonly entry_path: string; readonly name?: string },
): Promise<PageReply> {
  const shown = { name: 'Tides', public_to_board_enabled: true, ...fields };
  return (await errand.daemon.admin('POST', '/api/v1/publishes', shown)) as PageReply;
}

async function publishContents(bench: Bench, { sessionId, keys, largeBytes }: Filled): Promise<Content[]> {
  const entries = [
    ['small', '/site/index.html', SMALL_BYTES],
    ['medium', '/medium.bin', MEGABYTE],
    ['large', '/large.bin', largeBytes],
  ] as const;
  const contents: Content[] = [];
  for (const [name, entry_path, size] of entries) {
    const { latest_share_code: code } = await publish(bench, { session_id: sessionId, entry_path });
    contents.push({ name, size, path: `${PUBLIC}/shares/${code}/content`, key: keys[name] });
  }
  return contents;
}

/** A version of many files, again and again. */
async function measureVersion(bench: Bench, { sessionId }: Filled): Promise<Figures> {
  const { errand, scale, failures } = bench;
  const { url, apiKey } = errand.daemon;
  const page = await publish(bench, { session_id: sessionId, entry_path: '/site/index.html' });
  const caller = makeCaller({ name: 'errand', url, headers: { authorization: `Bearer ${apiKey}` } }, 1);
  const repeated = { errand, caller, times: Math.ceil(scale.single / 10), failures };
  const path = `/api/v1/publishes/${page.publish_key}/versions`;
  const figures = await measureRepeated(repeated, 'version', { method: 'POST', path, body: {}, expect: 201 });
  await caller.close();
  return { versionFiles: VERSION_FILES, ...figures };
}

const READS = {
  boardPage: () => '/share',
  boardSearch: () => '/share?q=tides%209999',
  boardCategory: () => '/share?category=Category%207',
  boardList: () => `${PUBLIC}/publishes`,
  boardTen: () => `${PUBLIC}/publishes?limit=10`,
  boardName: () => `${PUBLIC}/publishes?name=9999`,
  shareDetail: (code: string) => `${PUBLIC}/shares/${code}`,
  sharePage: (code: string) => `/share/${code}`,
} as const;

/** What is read of a board with many pages. */
async function measureBoard(bench: Bench, { sessionId }: Filled): Promise<Figures> {
  const { errand, scale, failures } = bench;
  const { daemon } = errand;
  const page = await publish(bench, { session_id: sessionId, entry_path: '/medium.bin' });
  await daemon.stop();
  fillBoard(daemon.dataDir, page.publish_key, BOARD_PAGES);
  await daemon.restart();
  const figures: Figures = { boardPages: BOARD_PAGES };
  const caller = makeCaller({ name: 'errand', url: daemon.url, headers: {} }, 1);
  const repeated = { errand, caller, times: scale.single, failures };
  for (const [name, pathOf] of Object.entries(READS)) {
    const path = pathOf(page.latest_share_code);
    Object.assign(figures, await measureRepeated(repeated, name, { method: 'GET', path, expect: 200 }));
  }
  await caller.close();
  return figures;
}
