// A turn as the caller asked for it, in domain values: what the protocols' wire files produce.
import type { Halt } from '../../domain/halt.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Link, Resent, Said } from '../../domain/sessions/continued/history-chain.ts';
import type { Protocol, ResponseEcho, ResultTool, Run } from '../../domain/sessions/run.ts';

/** Bytes of an upload, which may be stored in a file. */
export interface UploadBytes {
  readonly size: number;
  /** Yields them in chunks, any number of times, until the turn is accepted or refused. */
  pieces(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/**
 * One block of the user's message. `stored` names an attachment of an earlier turn by its `attachments/…` path; `address` an
 * image on the web, and `field` the request's field that contains the address (C3, C4).
 */
export type InputBlock =
  | { readonly type: 'text'; readonly text: string; readonly quoted?: true }
  | {
      readonly type: 'upload';
      readonly media: 'image' | 'file';
      readonly name: string | null;
      readonly mimeType: string;
      readonly bytes: UploadBytes;
    }
  | { readonly type: 'stored'; readonly media: 'image' | 'file'; readonly name: string | null; readonly path: string }
  | {
      readonly type: 'address';
      readonly media: 'image';
      readonly name: string | null;
      readonly url: string;
      readonly field: string;
    };

/** What a client says of the conversation that a turn belongs to, where its key goes by that (M1). */
export interface Conversation {
  /** What it calls it; null where it has no name. */
  readonly name: string | null;
  /** All that it resends, then its beginnings, the longest first; none where it resends nothing, or more than can be read. */
  readonly resent: readonly Resent[];
  /** Up to the user's message, under its name; null where nothing of it is kept. */
  readonly asked: Link | null;
  /** The end of what it resends, in order. */
  readonly earlier: readonly Said[];
  readonly isSideRequest: boolean;
}

/** The input of one turn: the last `user` message and what goes with it. */
export interface TurnInput {
  readonly protocol: Protocol;
  /** The request's `model`: echoed, and used for nothing else. */
  readonly model: string;
  readonly content: readonly InputBlock[];
  readonly sessionId: string | null;
  /** What may be the id of a session of the key, and is continued only then (M1). */
  readonly offeredSession: string | null;
  /** Null where the key's sessions are continued by their ids alone. */
  readonly conversation?: Conversation | null;
  readonly idempotencyKey: string | null;
  /** Present when the run is to continue in the background; its payload is returned verbatim. */
  readonly background: { readonly payload: string | null } | null;
  /** Chat only: the last chunk reports the usage (C9). */
  readonly includeUsage: boolean;
  /** The schema of the result, as `readOutputSchema` gave it; null when the answer is text (§4.4). */
  readonly outputSchema: JsonObject | null;
  /** What its Response repeats; null in other protocols. */
  readonly response: ResponseEcho | null;
  /** The reply has the result as the JSON text of its content: on chat and Responses, and where a Messages request has `output_config`. */
  readonly resultInContent: boolean;
  /** The tool of the client that the reply calls with the result; null for none (M4). */
  readonly resultTool: ResultTool | null;
  /** The request's field that the schema comes from; null without one. */
  readonly schemaField: string | null;
}

/** What exists of the request while its turn is accepted. */
export interface Asking {
  /** Fires when the caller has disconnected: it ends the fetching of images, and nothing after that (C7). */
  readonly left?: Halt;
  /** Counts bytes before they are held for the turn. Throws `unavailable` when there is no room for them. */
  readonly takeRoom: (bytes: number) => void;
  /** The trace that it belongs to, as its header says it; null while nothing is traced. */
  readonly traceParent?: string | null;
}

/** An accepted turn: its rows are committed and synced (D7). */
export interface AcceptedTurn {
  readonly run: Run;
  /** True when an earlier request with the same idempotency key made this run. */
  readonly replayed: boolean;
  /** Set where what its client resends of the conversation is known in the session, or quoted there. */
  readonly historyTaken?: boolean;
}
