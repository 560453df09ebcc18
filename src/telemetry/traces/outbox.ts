// Sends batches of spans to the collector, with growing pauses while it is away, and says so once.
import { hostname } from 'node:os';
import type { Clock } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import type { Exported, Exporter } from './exporter.ts';
import { exportRequest, type OtlpSpan } from './otlp.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

export type TraceOutcome = 'sent' | 'dropped' | 'rejected';

export interface OutboxParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly exporter: Exporter;
  settings(): Pick<Settings, 'traces'>;
  /** The headers of each request, as they are now. Throws when they can't be read. */
  headers(): Readonly<Record<string, string>>;
  /** Counts runs whose trace was sent, or will not be. */
  readonly counted?: ((outcome: TraceOutcome, runs: number) => void) | undefined;
}

export interface Outbox {
  /** Sends the spans of so many runs. Returns whether that is done with: taken, or refused for good. */
  send(spans: readonly OtlpSpan[], runs: number, stopping: AbortSignal): Promise<boolean>;
  /** Milliseconds until the next attempt may be made. */
  pauseMs(): number;
  dropped(runs: number): void;
}

export function makeOutbox({ clock, log, exporter, settings, headers, counted }: OutboxParts): Outbox {
  let retryMs = FIRST_RETRY_MS;
  let notBefore = 0;
  let isComplaining = false;

  /** Once for each outage. */
  function complain(why: string, words: string): void {
    if (!isComplaining) log.warn({ why }, words);
    isComplaining = true;
  }

  async function attempt(spans: readonly OtlpSpan[], stopping: AbortSignal): Promise<Exported> {
    try {
      const target = { endpoint: settings().traces.otlpEndpoint, headers: headers() };
      return await exporter.send(target, exportRequest(spans, hostname()), stopping);
    } catch (error) {
      // The file of the headers may be back at the next attempt.
      return { ok: false, again: true, waitMs: 0, why: messageOf(error) };
    }
  }

  function taken(rejected: number, runs: number): void {
    retryMs = FIRST_RETRY_MS;
    if (rejected > 0) log.warn({ spans: rejected }, 'the collector did not take all spans of a trace');
    counted?.(rejected > 0 ? 'rejected' : 'sent', runs);
    if (isComplaining) log.info('traces of runs are sent again');
    isComplaining = false;
  }

  return {
    send: async (spans, runs, stopping) => {
      const end = await attempt(spans, stopping);
      if (end.ok) {
        taken(end.rejected, runs);
        return true;
      }
      complain(end.why, end.again ? 'traces of runs wait for their collector' : 'the collector refuses traces of runs');
      if (!end.again) {
        counted?.('rejected', runs);
        return true;
      }
      notBefore = clock.monotonic() + Math.max(end.waitMs, retryMs);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      return false;
    },
    pauseMs: () => Math.max(0, notBefore - clock.monotonic()),
    dropped: (runs) => {
      counted?.('dropped', runs);
      complain('too many wait', 'traces of runs are dropped: the collector takes them too slowly');
    },
  };
}
