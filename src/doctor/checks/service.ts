// Checks of the daemon as a service: its parts, its backups, and how its unit confines it.
import { accessSync, constants, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { reportOnFiles } from '../../config/live/live-certificate.ts';
import { parseListen } from '../../config/listen-address.ts';
import { restartOf } from '../../config/locations.ts';
import { isInNamespace } from '../../disk/kernel-users.ts';
import { codeOf, messageOf } from '../../domain/errors.ts';
import { usesTls } from '../../domain/settings.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import type { Finding } from '../../operations/doctor.ts';
import { type Check, failed, type CheckResult, ok, skipped, together, warning } from '../check.ts';
import { byHand, runProgram, runsSystemd, SERVICE, serviceUser, socketListens, startRemedy } from '../remedies.ts';
import type { Subject } from '../subject.ts';
import { NODES_CHECK } from './nodes.ts';

/** Exposure from which systemd calls a unit no longer "OK". */
const MEDIUM_EXPOSURE = 5;

/** Parts that a check of their own reports. */
const OWN_CHECKS: ReadonlySet<string> = new Set(['node', 'backups', 'tls', 'audit', 'shell', 'disk', 'configuration']);

const daemon: Check = {
  id: 'daemon',
  title: 'The daemon and its parts',
  examine: async ({ daemon: self, locations }) => {
    if (self.state === 'stopped') return skipped('examined beside a stopped daemon');
    if (self.state === 'silent')
      return failed(self.why, self.isHung ? restartOf(locations) : await startRemedy(locations));
    const parts = self.parts().filter(({ name }) => !OWN_CHECKS.has(name));
    const found = parts.map(({ name, state, detail }) => {
      const words = `${name}: ${detail ?? state}`;
      return state === 'ok'
        ? ok(words)
        : (state === 'failed' ? failed : warning)(words, byHand('errand logs --level warn shows more'));
    });
    return together(found, `it answers, and its ${found.length} parts are well`);
  },
};

const listening: Check = {
  id: 'listen',
  title: 'The address for requests',
  examine: async ({ settings, daemon: self, locations }) => {
    const { listen } = settings();
    if (self.state === 'running') return ok(`the daemon has ${listen}`);
    if (locations.isService && (await socketListens())) return ok(`systemd has ${listen}, or what errand.socket names`);
    const target = parseListen(listen);
    if (target?.kind !== 'tcp' || target.port === 0) return skipped(`${listen} is no port that others can take`);
    const code = await whyNotFree(target.host, target.port);
    if (code === null) return ok(`${listen} is free`);
    if (code !== 'EADDRINUSE') return failed(`${listen} can't be listened on (${code})`, CHOOSE_ADDRESS);
    const free = await nextFree(target.host, target.port);
    if (free === null) return failed(`${listen} is taken by another process`, CHOOSE_ADDRESS);
    const host = listen.slice(0, listen.lastIndexOf(':'));
    return failed(
      `${listen} is taken by another process`,
      `errand config set listen ${shellWord(`${host}:${free}`)}  # or end the other process, which ss -ltnp names`,
    );
  },
};

const CHOOSE_ADDRESS = byHand('errand config set listen ADDRESS:PORT, with an address of this machine and a free port');
const PORTS_TO_TRY = 20;

async function nextFree(host: string, taken: number): Promise<number | null> {
  for (let port = taken + 1; port <= Math.min(taken + PORTS_TO_TRY, 65_535); port += 1) {
    if ((await whyNotFree(host, port)) === null) return port;
  }
  return null;
}

/** The code of the error that listening there ends with; null without one. */
function whyNotFree(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(codeOf(error) ?? messageOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

const backups: Check = {
  id: 'backups',
  title: 'Backups',
  examine: (subject) => {
    const { settings, daemon: self, locations } = subject;
    const { directory } = settings().backup;
    if (directory === '') return warning('none are scheduled', remedyOfNoBackups(subject));
    const closed = whyClosed(directory);
    // Root sees another directory than the service does, and can write anywhere.
    if (closed === 'ENOENT' || (closed !== null && self.state === 'running'))
      return failed(`${directory} can't be written to (${closed})`, remedyOfClosed(subject, directory));
    const part = self.state === 'running' ? self.parts().find(({ name }) => name === 'backups') : undefined;
    if (part === undefined) return skipped(`each day into ${directory}; only the running daemon knows the last one`);
    const words = `each day into ${directory}: ${part.detail ?? part.state}`;
    if (part.state !== 'ok') return failed(words, 'errand backup create');
    return isOnDiskOf(locations.dataDir, directory)
      ? warning(
          `${words}; on the disk of the data, which they are lost with`,
          byHand('errand config set backup.directory DIRECTORY, with one on another disk'),
        )
      : ok(words);
  },
};

const USUAL_DIRECTORY = '/var/backups/errand';

/** The command also makes the directory, and lets the service write to it. */
function remedyOfNoBackups({ locations }: Subject): string {
  if (!locations.isService)
    return byHand('errand config set backup.directory DIRECTORY, with one that the daemon can write to');
  return `errand config set backup.directory ${USUAL_DIRECTORY} && systemctl restart errand`;
}

function remedyOfClosed({ locations, daemon: self }: Subject, directory: string): string {
  const word = shellWord(directory);
  if (!locations.isService) return `mkdir -p ${word} && chmod u+rwx ${word}`;
  const set = `errand config set backup.directory ${word}`;
  if (self.state !== 'running') return set;
  // On the machine that it comes from, the service's user had another id.
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid;
  const give =
    owner === undefined || owner === process.getuid?.() ? '' : `chown -R ${serviceUser(locations)}: ${word} && `;
  return `${give}${set} && systemctl restart errand`;
}

function whyClosed(directory: string): string | null {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return codeOf(error) ?? messageOf(error);
  }
}

function isOnDiskOf(dataDir: string, directory: string): boolean {
  const stats = statSync(directory, { throwIfNoEntry: false });
  return stats !== undefined && stats.dev === statSync(dataDir).dev;
}

const certificate: Check = {
  id: 'certificate',
  title: 'The certificate of TLS',
  examine: ({ settings, locations, daemon: self, clock, unresolved }) => {
    const { tls } = settings();
    if (!usesTls({ tls })) return skipped('the daemon speaks plain HTTP');
    const closed = [tls.certFile, tls.keyFile].filter((reference) => unresolved.has(reference));
    if (closed.length > 0) return skipped(`only the service can read ${closed.join(', ')}`);
    const served = self.state === 'running' ? self.parts().find(({ name }) => name === 'tls') : undefined;
    const { state, detail } = served ?? reportOnFiles(tls, locations, clock.now());
    const words = detail ?? state;
    if (state === 'ok') return ok(words);
    return (state === 'failed' ? failed : warning)(words, RENEW);
  },
};

const RENEW = byHand('renew it with what made it, such as certbot renew; the daemon takes up new files by itself');

const unit: Check = { id: 'unit', title: 'How the unit confines the daemon', examine: lookAtUnit };

async function lookAtUnit(): Promise<CheckResult> {
  if (!runsSystemd()) return skipped('systemd does not run here');
  if (isInNamespace()) return skipped('systemd refuses the daemon: errand doctor asks it from outside');
  const shown = await run('systemctl', 'show', SERVICE, '--property=LoadState,NeedDaemonReload');
  if (!shown.includes('LoadState=loaded')) return warning(`there is no ${SERVICE}`, 'errand service install');
  if (shown.includes('NeedDaemonReload=yes'))
    return warning(
      `${SERVICE} was changed on disk, and the change is not in effect`,
      'systemctl daemon-reload && systemctl restart errand',
    );
  const stdout = await run('systemd-analyze', 'security', '--no-pager', SERVICE);
  const level = /exposure level for [^:]+: ([\d.]+)/.exec(stdout)?.[1];
  if (level === undefined) return skipped('systemd-analyze gave no exposure level');
  const words = `exposure ${level} of 10 (systemd-analyze security ${SERVICE})`;
  return Number(level) < MEDIUM_EXPOSURE
    ? ok(words)
    : warning(words, byHand('systemctl cat errand shows which file weakens the unit that comes with Errand'));
}

async function run(program: string, ...args: readonly string[]): Promise<string> {
  try {
    return await runProgram(program, ...args);
  } catch (error) {
    throw new Error(`${program} failed: ${messageOf(error)}`, { cause: error });
  }
}

/** The check of the unit, which needs no installation: for those who are not in the daemon's namespace. */
export const examineUnit = async (): Promise<Finding> => ({ id: unit.id, title: unit.title, ...(await lookAtUnit()) });

export const SERVICE_CHECKS: readonly Check[] = [daemon, NODES_CHECK, listening, backups, certificate, unit];
