// A small installation on disk, to be backed up: sessions with attachments and workspaces, and a configuration.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BackupTask } from '../../../src/backups/thread-messages.ts';
import { openRepository } from '../../../src/backups/repository/repository.ts';
import { makeRepositorySink, type Sink } from '../../../src/backups/repository/sink.ts';
import { type TakeParts, takeBackup } from '../../../src/backups/take-backup.ts';
import { blobPath } from '../../../src/files/blobs/blob-place.ts';
import type { Manifest } from '../../../src/wire/backups/manifest.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { attachmentOf, contentsOf } from '../store/small-contents.ts';
import { storeFixture } from '../store/store-fixture.ts';

export const SEAL_KEY = Buffer.alloc(32, 7);
export const NO_PACE = { rest: async () => undefined, restHere: () => undefined, cancel: () => undefined };
const PARTS = { pace: NO_PACE, requireSpace: () => undefined, progress: () => undefined, passed: () => undefined };

export type Installation = Awaited<ReturnType<typeof installation>>;

export async function installation(root = temporaryDirectory()) {
  const [dataDir, configDir, repository] = [join(root, 'data'), join(root, 'config'), join(root, 'repository')];
  for (const directory of [dataDir, configDir]) mkdirSync(directory);
  const fixture = await storeFixture(join(dataDir, 'errand.db'));
  let made = 0;

  function put(path: string, content: string | Buffer): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  return {
    root,
    dataDir,
    configDir,
    repository,
    fixture,
    put,
    /** Opens a session with an attachment that is a row. Returns its key. */
    addRow: async (content: string): Promise<string> => {
      const attachment = attachmentOf(content, randomUUID());
      await fixture.accept({ attachments: [attachment], contents: contentsOf(content) });
      return attachment.sha256;
    },
    /** Opens a session with an attachment that is a file, and a file in its workspace. */
    addSession: async (content: string | Buffer) => {
      const sha256 = createHash('sha256').update(content).digest('hex');
      put(blobPath(join(dataDir, 'blobs'), sha256), content);
      const id = randomUUID();
      const upload = {
        id,
        name: 'a',
        path: `attachments/${id}/a`,
        workspacePath: '/uploads/a',
        mimeType: 'text/plain',
      };
      const { sessionId } = await fixture.accept({ attachments: [{ ...upload, size: content.length, sha256 }] });
      put(join(dataDir, 'workspaces', sessionId, 'notes', 'n.txt'), `notes of ${sessionId}`);
      return { sessionId, sha256 };
    },
    task: (over: Partial<BackupTask> = {}): BackupTask => ({
      id: `20260302T0330${String((made += 1)).padStart(2, '0')}Z-4f9a1c`,
      createdAt: fixture.clock.now(),
      errandVersion: '0.1.0',
      database: { kind: 'sqlite', file: fixture.file },
      blobs: join(dataDir, 'blobs'),
      workspaces: join(dataDir, 'workspaces'),
      configuration: configDir,
      except: [],
      repository,
      staging: join(repository, 'incoming'),
      keepFreeBytes: 0,
      anchor: null,
      sealKey: SEAL_KEY,
      wrappedKey: null,
      ...over,
    }),
  };
}

/** Takes a backup into the repository of a task, as its thread does. */
export async function take(
  task: BackupTask,
  over: Partial<Omit<TakeParts, 'sink'>> & { readonly sink?: (sink: Sink) => Sink } = {},
): Promise<Manifest> {
  const { sink = (own: Sink) => own, ...parts } = over;
  const lock = openRepository(task.repository!);
  try {
    return await takeBackup(task, {
      ...PARTS,
      ...parts,
      sink: sink(makeRepositorySink(task.repository!, () => undefined)),
    });
  } finally {
    lock.release();
  }
}

/** Every file below a directory: its path, mode and content. */
export function filesIn(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => {
        const mode = (statSync(path).mode & 0o777).toString(8);
        return [path.slice(directory.length + 1), `${mode} ${readFileSync(path, 'latin1')}`];
      }),
  );
}
