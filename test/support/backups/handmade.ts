// A backup that this Errand would not make: of an older one, or with a list that someone has forged.
import { readFileSync } from 'node:fs';
import Connection from 'better-sqlite3';
import { makeListWriter } from '../../../src/backups/repository/file-list.ts';
import { sealManifest } from '../../../src/backups/repository/manifest.ts';
import { openRepository } from '../../../src/backups/repository/repository.ts';
import { makeRepositorySink } from '../../../src/backups/repository/sink.ts';
import type { ListedFile, Manifest } from '../../../src/wire/backups/manifest.ts';
import { SEAL_KEY } from './installation.ts';

export type HandmadeEntry = Pick<ListedFile, 'kind' | 'path'> & Partial<ListedFile> & { readonly content?: string };

interface Handmade {
  readonly repository: string;
  /** The file of its database, which nobody has open. */
  readonly database: string;
  readonly entries?: readonly HandmadeEntry[];
  readonly facts?: Partial<Manifest>;
}

const ID = '20260301T033000Z-0a0b0c';
const NO_ADDED = { objects: 0, bytes: 0 };

/** Makes the backup, whose manifest is in order otherwise, and returns its id. */
export async function makeByHand({ repository, database, entries = [], facts = {} }: Handmade): Promise<string> {
  const lock = openRepository(repository);
  const sink = makeRepositorySink(repository, () => undefined);
  const list = makeListWriter(sink);
  const add = async ({ content, ...entry }: Omit<HandmadeEntry, 'content'> & { content?: string | Buffer }) => {
    const bytes = content === undefined ? [] : [Buffer.from(content)];
    const objects = await Promise.all(bytes.map((piece) => sink.put(piece)));
    const rest = { mode: 0o600, modified_at: 0, size: bytes[0]?.length ?? 0, objects };
    await list.add({ ...rest, ...entry });
    return rest.size;
  };
  try {
    const size = await add({ kind: 'database', path: 'errand.db', content: readFileSync(database) });
    for (const entry of entries) await add(entry);
    const of = (kind: ListedFile['kind']) => {
      const all = entries.filter((entry) => entry.kind === kind);
      const count = (type: ListedFile['type']) => all.filter((entry) => entry.type === type).length;
      return { files: count(undefined), bytes: 0, links: count('link'), folders: count('folder') };
    };
    const manifest = {
      format: 2,
      id: ID,
      created_at: '2026-03-01T03:30:00Z',
      errand_version: '0.0.9',
      schema_version: versionOf(database),
      database: { files: 1, bytes: size },
      blobs: { files: of('blob').files, bytes: 0 },
      workspaces: of('workspace'),
      configuration: of('configuration'),
      missing_blobs: 0,
      left_out: 0,
      changing: 0,
      added: NO_ADDED,
      audit: null,
      list: await list.end(),
      master_key: null,
      ...facts,
    };
    await sink.finish(ID, () => sealManifest(manifest, SEAL_KEY));
    return ID;
  } finally {
    lock.release();
  }
}

function versionOf(file: string): number {
  const connection = new Connection(file, { readonly: true });
  const version = connection.pragma('user_version', { simple: true }) as number;
  connection.close();
  return version;
}
