// Checks of the daemon as a service: its parts, its backups, and how its unit confines it.
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { reportOnFiles } from '../../config/live-certificate.ts';
import { restartOf, startOf } from '../../config/config.ts';
import { messageOf } from '../../domain/errors.ts';
import { usesTls } from '../../domain/settings.ts';
import { type Check, failed, ok, skipped, together, warning } from '../check.ts';

const UNIT = 'errand.service';
const PROGRAM_MS = 15_000;
/** Exposure from which systemd calls a unit no longer "OK". */
const MEDIUM_EXPOSURE = 5;
/** There while systemd is process 1. */
const SYSTEMD_RUNS = '/run/systemd/system';

/** Parts that a check of their own reports. */
const OWN_CHECKS: ReadonlySet<string> = new Set(['backups', 'tls', 'audit']);

const daemon: Check = {
  id: 'daemon',
  title: 'The daemon and its parts',
  examine: ({ daemon: self, places }) => {
    if (self.state === 'stopped') return skipped('examined beside a stopped daemon');
    if (self.state === 'silent') return failed(self.why, self.isHung ? restartOf(places) : startOf(places));
    const parts = self.parts().filter(({ name }) => !OWN_CHECKS.has(name));
    const found = parts.map(({ name, state, detail }) => {
      const words = `${name}: ${detail ?? state}`;
      return state === 'ok' ? ok(words) : (state === 'failed' ? failed : warning)(words, 'errand status');
    });
    return together(found, `it answers, and its ${found.length} parts are well`);
  },
};

const backups: Check = {
  id: 'backups',
  title: 'Backups',
  examine: ({ settings, daemon: self, places: { dataDir } }) => {
    const { directory } = settings().backup;
    if (directory === '')
      return warning('none are scheduled', 'errand config set backup.directory /var/backups/errand');
    const part = self.state === 'running' ? self.parts().find(({ name }) => name === 'backups') : undefined;
    if (part === undefined) return skipped(`each day into ${directory}; only the running daemon knows the last one`);
    const words = `each day into ${directory}: ${part.detail ?? part.state}`;
    if (part.state !== 'ok') return failed(words, 'errand backup create');
    return isOnDiskOf(dataDir, directory)
      ? warning(
          `${words}; on the disk of the data, which they are lost with`,
          'errand config set backup.directory /another/disk/errand',
        )
      : ok(words);
  },
};

function isOnDiskOf(dataDir: string, directory: string): boolean {
  const stats = statSync(directory, { throwIfNoEntry: false });
  return stats !== undefined && stats.dev === statSync(dataDir).dev;
}

const certificate: Check = {
  id: 'certificate',
  title: 'The certificate of TLS',
  examine: ({ settings, places, daemon: self, clock, unresolved }) => {
    const { tls } = settings();
    if (!usesTls({ tls })) return skipped('the daemon speaks plain HTTP');
    const closed = [tls.certFile, tls.keyFile].filter((reference) => unresolved.has(reference));
    if (closed.length > 0) return skipped(`only the service can read ${closed.join(', ')}`);
    const served = self.state === 'running' ? self.parts().find(({ name }) => name === 'tls') : undefined;
    const { state, detail } = served ?? reportOnFiles(tls, places, clock.now());
    const words = detail ?? state;
    if (state === 'ok') return ok(words);
    return (state === 'failed' ? failed : warning)(words, RENEW);
  },
};

const RENEW = 'certbot renew  # or what else makes it; the daemon takes up new files by itself\nerrand config check';

const unit: Check = {
  id: 'unit',
  title: 'How the unit confines the daemon',
  examine: async () => {
    if (!existsSync(SYSTEMD_RUNS)) return skipped('systemd does not run here');
    const { stdout: shown } = await run('systemctl', 'show', UNIT, '--property=LoadState,NeedDaemonReload');
    if (!shown.includes('LoadState=loaded')) return warning(`there is no ${UNIT}`, 'errand service install');
    if (shown.includes('NeedDaemonReload=yes'))
      return warning(
        `${UNIT} was changed on disk, and the change is not in effect`,
        'systemctl daemon-reload && systemctl restart errand',
      );
    const { stdout } = await run('systemd-analyze', 'security', '--no-pager', UNIT);
    const level = /exposure level for [^:]+: ([\d.]+)/.exec(stdout)?.[1];
    if (level === undefined) return skipped('systemd-analyze gave no exposure level');
    const words = `exposure ${level} of 10 (systemd-analyze security ${UNIT})`;
    return Number(level) < MEDIUM_EXPOSURE ? ok(words) : warning(words, 'errand service install');
  },
};

async function run(program: string, ...args: readonly string[]): Promise<{ stdout: string }> {
  try {
    return await promisify(execFile)(program, args, { timeout: PROGRAM_MS });
  } catch (error) {
    throw new Error(`${program} failed: ${messageOf(error)}`, { cause: error });
  }
}

export const SERVICE_CHECKS: readonly Check[] = [daemon, backups, certificate, unit];
