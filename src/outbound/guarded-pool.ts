// Requests over kept connections, for a sender that calls the same hosts again and again. Each connection is guarded when it
// is opened; none outlives the rules and the ways under which it was opened.
import type { Client } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { EgressRule } from '../domain/egress.ts';
import { EgressError, type EgressPolicy } from './egress.ts';
import { exchange, type ExchangeParts, noReply, type PooledReply, type PooledRequest } from './exchange.ts';
import { isClosing } from './failure.ts';
import { openClient } from './guarded-connect.ts';
import { type LookUps, watchLookUps } from './look-ups.ts';
import { readUrl } from './hop.ts';
import { type Ways, waysNow } from './ways/ways.ts';

export interface GuardedPoolParts {
  /** The policy as it is now. A different list of rules ends all idle connections. */
  policy(): EgressPolicy;
  /** How many idle connections are kept in all. */
  readonly maxIdle: number;
  readonly clock: Clock;
}

export interface GuardedPool {
  /** Sends a request and reads the start of its reply. Follows no redirect. Never rejects. */
  send(request: PooledRequest): Promise<PooledReply>;
  /** Ends every connection, and with it the requests in progress. */
  close(): void;
}

/** A connection that sends one request at a time. */
interface Connection {
  readonly origin: string;
  readonly allow: readonly EgressRule[];
  readonly ways: Ways;
  readonly client: Client;
  readonly lookUps: LookUps;
  readonly ending: AbortController;
}

/** One request on its way. */
type Going = Pick<ExchangeParts, 'url' | 'startedAt'>;

/** Makes a pool. It opens nothing before its first request. */
export function makeGuardedPool({ policy, maxIdle, clock }: GuardedPoolParts): GuardedPool {
  const open = new Set<Connection>();
  /** In the order in which they became idle. */
  const idle = new Set<Connection>();
  let closed = false;

  async function send(request: PooledRequest): Promise<PooledReply> {
    const url = urlOf(request);
    if (url instanceof EgressError) return noReply(url);
    const startedAt = clock.monotonic();
    const idle = takeIdle(url.origin);
    if (idle !== undefined) {
      const reply = await sendOver(idle, request, { url, startedAt });
      // A server may close an idle connection at the moment when it is used again.
      if (!isClosedEarly(reply)) return reply;
    }
    return sendOver(await connect(url.origin), request, { url, startedAt });
  }

  async function sendOver(connection: Connection, request: PooledRequest, going: Going): Promise<PooledReply> {
    const { client, lookUps } = connection;
    const reply = await exchange({ client, lookUps, clock, ...going }, request);
    if (reply.isWhole) keep(connection);
    else end(connection);
    return reply;
  }

  function takeIdle(origin: string): Connection | undefined {
    for (const connection of idle) if (!isCurrent(connection, policy())) end(connection);
    const found = [...idle].findLast((connection) => connection.origin === origin);
    if (found !== undefined) idle.delete(found);
    return found;
  }

  async function connect(origin: string): Promise<Connection> {
    const ending = new AbortController();
    const lookUps = watchLookUps(policy());
    const client = await openClient(lookUps.policy, origin, ending.signal);
    const connection = { origin, allow: lookUps.policy.allow, ways: waysNow(), client, lookUps, ending };
    open.add(connection);
    if (closed) end(connection);
    client.on('disconnect', () => {
      if (idle.has(connection)) end(connection);
    });
    return connection;
  }

  function keep(connection: Connection): void {
    if (closed || !connection.client.stats.connected || !isCurrent(connection, policy())) return end(connection);
    idle.add(connection);
    if (idle.size > maxIdle) end(idle.values().next().value!);
  }

  function end(connection: Connection): void {
    open.delete(connection);
    idle.delete(connection);
    connection.ending.abort();
  }

  return {
    send,
    close: () => {
      closed = true;
      for (const connection of open) end(connection);
    },
  };
}

function isCurrent({ allow, ways }: Connection, policy: EgressPolicy): boolean {
  return allow === policy.allow && ways === waysNow();
}

function isClosedEarly({ status, error }: PooledReply): boolean {
  return status === null && error !== null && isClosing(error.cause);
}

function urlOf({ url }: PooledRequest): URL | EgressError {
  try {
    return readUrl(url);
  } catch (error) {
    return error as EgressError;
  }
}
