// The certificate of a daemon that speaks TLS, which follows its files and the settings that name them.
import { isDeepStrictEqual } from 'node:util';
import { type LiveCertificate, makeLiveCertificate } from '../../config/live/live-certificate.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import { usesTls } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import type { Start } from '../foundations.ts';
import { daemonClock } from '../daemon-clock.ts';

/** Reads it; null without TLS. Throws `conflict` when it can't be used. */
export function openCertificate(
  { configuration, closers }: Start,
  live: Pick<LiveConfig, 'settings' | 'onChange'>,
  log: Log,
): LiveCertificate | null {
  if (!usesTls(live.settings())) return null;
  const tls = () => live.settings().tls;
  const certificate = makeLiveCertificate({ tls, locations: configuration.config.locations, clock: daemonClock, log });
  let followed = tls();
  live.onChange(() => {
    if (isDeepStrictEqual(tls(), followed)) return;
    followed = tls();
    certificate.follow();
  });
  closers.push(certificate.stop);
  return certificate;
}

/** What SIGHUP reads: the configuration, and then the certificate that it names. */
export function reloadOf(live: Pick<LiveConfig, 'reload'>, certificate: LiveCertificate | null): () => void {
  return () => {
    live.reload();
    certificate?.reload();
  };
}
