// Backups of a small installation, with their real thread.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type BackupParts, makeBackups } from '../../../src/backups/backups.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { deriveFrom } from '../../../src/files/master-key.ts';
import { makeLog } from '../../../src/log/log.ts';
import { installation } from './installation.ts';

/** An installation with one session. `held.now`: how often blobs are held. */
export async function backupsOf(over: Partial<BackupParts> = {}, root?: string) {
  const fixture = await installation(root);
  await fixture.addSession('some text');
  const held = { now: 0 };
  const backups = makeBackups({
    dataDir: fixture.dataDir,
    configDir: fixture.configDir,
    database: { kind: 'sqlite', file: fixture.fixture.file },
    masterKey: { path: join(fixture.dataDir, 'master.key'), isCredential: false },
    errandVersion: '0.1.0',
    blobs: {
      holdRest: () => {
        held.now += 1;
        return { passed: () => undefined, quiet: async () => undefined, release: () => void (held.now -= 1) };
      },
    },
    deriveKey: deriveFrom(Buffer.alloc(32, 1)),
    keepFreeBytes: () => 0,
    clock: systemClock,
    log: makeLog({ level: 'fatal' }),
    ...over,
  });
  onTestFinished(backups.stop);
  return { ...fixture, backups, held, staging: join(fixture.dataDir, 'backup') };
}
