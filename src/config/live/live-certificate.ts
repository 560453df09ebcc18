// Keeps the certificate as its files have it now; a pair that can't be used leaves the one before in effect.
import { isOutOfReach, locateSecret, type SecretLocations } from '../../catalog/reading/secret-file.ts';
import { type Problem, problemOutside } from '../../catalog/reading/problem.ts';
import { type Clock, isoTime } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { type Settings, usesTls } from '../../domain/settings.ts';
import { type Certificate, readCertificate } from '../../http/server/certificate.ts';
import type { Log } from '../../log/log.ts';
import type { PartReport } from '../../operations/status.ts';
import { makeService } from '../../services/service.ts';
import { makeWatch } from './watch.ts';
import { openFilesWatch } from './watch-files.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WARN_BEFORE_MS = 14 * DAY_MS;
const NOT_WATCHED =
  'the files of the certificate are not watched; until they are, changes apply within an hour, or at once on SIGHUP';

export interface LiveCertificateParts {
  /** Where the files are now. */
  readonly tls: () => Settings['tls'];
  readonly locations: SecretLocations;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LiveCertificate {
  current(): Certificate;
  /** How it is doing, for operators. */
  part(): PartReport;
  /** Calls back when new connections should get another one. */
  onChange(listener: (certificate: Certificate) => void): void;
  /** Reads the files now. */
  reload(): void;
  /** The files may be elsewhere now: reads and watches them there. */
  follow(): void;
  /** Resolves when the files are watched. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The problem of the files, as a start would find it. */
export function checkCertificate(settings: Pick<Settings, 'tls'>, locations: SecretLocations): readonly Problem[] {
  if (!usesTls(settings)) return [];
  const { certFile, keyFile } = settings.tls;
  const unread = [certFile, keyFile].filter((reference) => isOutOfReach(reference, locations));
  for (const reference of unread) locations.unresolved?.add(reference);
  if (unread.length > 0) return [];
  const read = readCertificate(settings.tls, locations);
  return read.ok ? [] : [problemOutside(read.why)];
}

/** How the files are doing, without a daemon that serves them. */
export function reportOnFiles(tls: Settings['tls'], locations: SecretLocations, now: number): PartReport {
  const read = readCertificate(tls, locations);
  return read.ok ? partOf(read.certificate, null, now) : { name: 'tls', state: 'failed', detail: read.why };
}

/** Reads the certificate and follows its files from `start` on, once an hour at least. Throws `conflict` when it can't be used. */
export function makeLiveCertificate({ tls, locations, clock, log }: LiveCertificateParts): LiveCertificate {
  const first = readCertificate(tls(), locations);
  if (!first.ok) throw new ErrandError('conflict', first.why);
  let current = first.certificate;
  let refused: string | null = null;
  const listeners: ((certificate: Certificate) => void)[] = [];
  const warn = makeDailyWarning(clock, log);

  function read(): void {
    const found = readCertificate(tls(), locations);
    if (!found.ok) {
      if (found.why !== refused)
        log.error({ problem: found.why }, 'certificate refused; the one before stays in effect');
      refused = found.why;
      return;
    }
    const isSame = found.certificate.cert === current.cert && found.certificate.key === current.key;
    if (isSame && refused === null) return;
    refused = null;
    current = found.certificate;
    log.info(factsOf(current), isSame ? 'certificate in order again' : 'certificate reloaded; new connections get it');
    if (!isSame) for (const listener of listeners) listener(current);
  }

  const service = makeService({
    work: async () => {
      read();
      warn(current);
      return HOUR_MS;
    },
    failure: 'the certificate could not be read',
    clock,
    log,
  });
  const watch = makeWatch({
    open: (callbacks) => openFilesWatch(pathsOf(tls(), locations), callbacks),
    failure: NOT_WATCHED,
    reload: service.wake,
    clock,
    log,
  });

  return {
    current: () => current,
    part: () => partOf(current, refused, clock.now()),
    onChange: (listener) => void listeners.push(listener),
    reload: service.wake,
    follow: watch.reopen,
    start: watch.start,
    stop: async () => {
      await watch.stop();
      await service.stop();
    },
  };
}

function pathsOf({ certFile, keyFile }: Settings['tls'], locations: SecretLocations): readonly string[] {
  return [certFile, keyFile].flatMap((reference) => {
    const place = locateSecret(reference, locations);
    return 'path' in place ? [place.path] : [];
  });
}

const factsOf = ({ names, fingerprint, expiresAt }: Certificate) => ({
  names,
  fingerprint,
  expires_at: isoTime(expiresAt),
});

/** What is wrong with its dates; null when nothing is. Of one that is made for a few days, its last third counts. */
function troubleOf({ validFrom, expiresAt }: Certificate, now: number): string | null {
  if (now >= expiresAt) return `expired on ${isoTime(expiresAt)}: clients refuse it`;
  if (now < validFrom) return `is not valid before ${isoTime(validFrom)}: clients refuse it`;
  if (expiresAt - now >= Math.min(WARN_BEFORE_MS, (expiresAt - validFrom) / 3)) return null;
  const days = Math.floor((expiresAt - now) / DAY_MS);
  return `expires on ${isoTime(expiresAt)}, in ${days === 0 ? 'less than a day' : `${days} days`}`;
}

/** Logs what is wrong with a certificate's dates, once a day. */
function makeDailyWarning(clock: Clock, log: Log): (certificate: Certificate) => void {
  let last: { readonly fingerprint: string; readonly at: number } | null = null;
  return (certificate) => {
    const trouble = troubleOf(certificate, clock.now());
    if (trouble === null) return;
    const { fingerprint } = certificate;
    if (last?.fingerprint === fingerprint && clock.monotonic() - last.at < DAY_MS) return;
    last = { fingerprint, at: clock.monotonic() };
    log.warn(factsOf(certificate), `the certificate ${trouble}`);
  };
}

function partOf(certificate: Certificate, refused: string | null, now: number): PartReport {
  const trouble = troubleOf(certificate, now);
  const problems = [
    ...(refused === null ? [] : [`${refused}; the certificate before stays in effect`]),
    ...(trouble === null ? [] : [`the certificate for ${certificate.names} ${trouble}`]),
  ];
  if (problems.length > 0) return { name: 'tls', state: 'degraded', detail: problems.join('; ') };
  const detail = `certificate for ${certificate.names}, valid until ${isoTime(certificate.expiresAt)}`;
  return { name: 'tls', state: 'ok', detail };
}
