// One request in its handler.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pause } from '../../domain/loop/slices.ts';
import type { RequestBody } from '../body/request-body.ts';
import type { Bases } from '../server/bases.ts';

/** The input of a handler. `Q` and `B` are what the route's shapes read in the query and in the body. */
export interface Exchange<Q = unknown, B = unknown> {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly params: Readonly<Record<string, string>>;
  /** What addresses in the reply begin with. */
  readonly bases: Bases;
  readonly query: Q;
  /** Released when the handler is done, if not before. */
  readonly body: B;
  readonly spooled: RequestBody['spooled'];
  /**
   * Counts what is held for the request in addition to its body, until the body is released. Throws `unavailable` when there is
   * no room.
   */
  takeRoom(bytes: number): void;
  /** Versions the body early, for handlers that wait. Afterwards, both of the above are empty. */
  letGoOfBody(): Promise<void>;
  /** Checks the credential again. Throws `unauthenticated` or `forbidden` when the request would be refused now. */
  readonly admit: () => Promise<unknown>;
  /** Awaited between steps of long work for the request. */
  readonly pause: Pause;
}
