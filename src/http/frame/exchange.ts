// One request on its way through a handler.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { notFound, unprocessable } from '../../domain/errors.ts';
import { isUuid } from '../../domain/ids.ts';
import type { RequestBody } from '../body/request-body.ts';

/** What a handler is given. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  /** The query as sent, without `?`. */
  readonly query: string;
  /** What it says is `{}` on routes that read none. It is let go when the handler is done, if not before. */
  readonly body: RequestBody['value'];
  readonly laid: RequestBody['laid'];
  /** Counts what is held for the request beside its body, until the body is let go. Throws `unavailable` when there is no room. */
  takeRoom(bytes: number): void;
  /** Lets go of the body early, for handlers that wait. Both of the above are empty then. */
  letGoOfBody(): Promise<void>;
  /** Looks at the credential again. Throws `unauthenticated` or `forbidden` when the request would be refused now. */
  readonly admit: () => Promise<unknown>;
}

/** The id in the path, in lower case. Throws `not_found` when it has not the form of one (A8). */
export function idInPath(exchange: Exchange, kind: string): string {
  const id = exchange.params['id'] ?? '';
  if (!isUuid(id)) throw notFound(kind);
  return id.toLowerCase();
}

/** The id or name in the path. */
export function refInPath(exchange: Exchange): string {
  return exchange.params['ref'] ?? '';
}

/** One query value, or null. Throws `unprocessable` when it is given twice. */
export function queryValue(exchange: Exchange, name: string): string | null {
  if (exchange.query === '') return null;
  const values = new URLSearchParams(exchange.query).getAll(name);
  if (values.length > 1) throw unprocessable(name, 'must be given once');
  return values[0] ?? null;
}
