// The state of the connection to the daemon, as the header shows it.
import type { ClientError } from '../../client/transport/client-error.ts';

/** `retryAt`, `askedAt`: this machine's clock. */
export interface Connection {
  readonly stream: 'connecting' | 'live' | 'lost';
  readonly streamFailure: ClientError | null;
  readonly retryAt: number | null;
  /** Since when a snapshot is awaited. */
  readonly askedAt: number | null;
  readonly readFailure: ClientError | null;
}

export const NOT_CONNECTED: Connection = {
  stream: 'connecting',
  streamFailure: null,
  retryAt: null,
  askedAt: null,
  readFailure: null,
};

export interface Standing {
  readonly role: 'running' | 'waiting' | 'failed';
  readonly glyph: string;
  readonly text: string;
}

const SLOW_MS = 2000;

/** One phrase for the header, the gravest first. */
export function standingOf(
  { stream, streamFailure, retryAt, askedAt, readFailure }: Connection,
  now: number,
): Standing {
  const failure = gravest(readFailure, streamFailure);
  const seconds = retryAt === null ? 0 : Math.max(0, Math.ceil((retryAt - now) / 1000));
  const again = seconds > 0 ? `, again in ${seconds} s` : '';
  if (failure !== null) return { ...describe(failure), text: `${describe(failure).text}${again}` };
  if (askedAt !== null && now - askedAt > SLOW_MS) {
    return { role: 'waiting', glyph: '◌', text: `waits for the daemon (${Math.floor((now - askedAt) / 1000)} s)` };
  }
  return stream === 'live'
    ? { role: 'running', glyph: '●', text: 'live' }
    : { role: 'waiting', glyph: '◌', text: `connecting${again}` };
}

const isGrave = ({ failure }: ClientError) => failure.kind === 'refused' || failure.kind === 'malformed';

function gravest(...failures: readonly (ClientError | null)[]): ClientError | null {
  const present = failures.filter((failure) => failure !== null);
  return present.find(isGrave) ?? present[0] ?? null;
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'the key is not valid',
  403: 'the key may not look on',
  404: 'this daemon has no Office Mode',
};

function describe({ failure }: ClientError): Standing {
  if (failure.kind === 'refused') {
    const text = REFUSALS[failure.status] ?? `the daemon answers ${failure.status}`;
    return { role: 'failed', glyph: '✗', text };
  }
  const texts = { unreachable: 'not reachable', timeout: 'too slow', malformed: 'no Errand daemon' } as const;
  const text = failure.kind in texts ? texts[failure.kind as keyof typeof texts] : 'reconnecting';
  return { role: 'waiting', glyph: '◌', text };
}
