// The log: one JSON line per event, on standard error, with secrets removed, and escapes for what could harm a terminal.
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { escapedText } from '../domain/escaped-text.ts';
import type { Settings } from '../domain/settings.ts';
import { censor } from './censor.ts';
import { standardErrorOutlet } from './log-outlet.ts';

/** The one kind of logger that every room gets. */
export type Log = Logger;

/**
 * A logger of the given level, to standard error by default. It never waits for its reader. What a child logger adds to each line
 * isn't searched for secrets; `logOf` adds ids only.
 */
export function makeLog(options: Pick<Settings['log'], 'level'>, to?: DestinationStream): Log {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: censor },
      // JSON has no escapes of its own for DEL, C1 controls and direction marks.
      hooks: { streamWrite: escapedText },
    },
    to ?? standardErrorOutlet(),
  );
}

/** What a line is about. */
export interface LogSubject {
  readonly requestId?: string;
  readonly runId?: string;
  readonly sessionId?: string;
}

/** A child logger whose every line names its request, run and session. */
export function logOf(log: Log, subject: LogSubject): Log {
  return log.child({
    ...(subject.requestId === undefined ? {} : { request_id: subject.requestId }),
    ...(subject.runId === undefined ? {} : { run_id: subject.runId }),
    ...(subject.sessionId === undefined ? {} : { session_id: subject.sessionId }),
  });
}

/** One answered request. `clientAddress` is `socket` on the Unix socket; behind a trusted proxy, the address of its client. */
export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly clientAddress: string;
}

/** What balancers ask each other second. */
const HEALTH = ['/healthz', '/readyz'];

/** Writes the line of one answered request; of one that found the daemon well, only with `debug`. */
export function logRequest(log: Log, line: RequestLine): void {
  const isRoutine = line.status === 200 && HEALTH.includes(line.path);
  log[isRoutine ? 'debug' : 'info'](
    {
      request_id: line.requestId,
      method: line.method,
      path: line.path,
      status: line.status,
      duration_ms: line.durationMs,
      client_address: line.clientAddress,
    },
    'request',
  );
}
