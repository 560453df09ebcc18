// The copies of the database that were made before its schema changed, beside it.
import { readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

/** Also what a start that was killed has left of one. */
const NAME = /^errand\.db\.v\d+\.backup(?:\.new(?:-journal)?)?$/;

export interface UpgradeCopy {
  readonly file: string;
  readonly bytes: number;
  /** Epoch ms. */
  readonly madeAt: number;
}

/** The oldest first. */
export function listUpgradeCopies(dataDir: string): readonly UpgradeCopy[] {
  const copies = readdirSync(dataDir)
    .filter((name) => NAME.test(name))
    .flatMap((name): UpgradeCopy[] => {
      const file = path.join(dataDir, name);
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats?.isFile() === true ? [{ file, bytes: stats.size, madeAt: stats.mtimeMs }] : [];
    });
  return copies.sort((one, other) => one.madeAt - other.madeAt);
}

/** Those made before a moment: how many there were. They are as large as the database, so not on this thread. */
export async function removeUpgradeCopies(dataDir: string, before: number): Promise<number> {
  const old = listUpgradeCopies(dataDir).filter(({ madeAt }) => madeAt < before);
  for (const { file } of old) await rm(file, { force: true });
  return old.length;
}
