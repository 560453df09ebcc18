// A connection to PostgreSQL: statements are sent without waiting for the answers of those before, and answered in their order.
import type { Duplex } from 'node:stream';
import type { Client, ClientConfig, CustomTypesConfig } from 'pg';
import { systemClock } from '../../../../domain/clock.ts';
import type { Value } from '../../statement.ts';
import { fromPostgres, toPostgres } from '../sql/text.ts';
import { SETTINGS } from './settings.ts';
import { type SilenceWatch, watchSilence } from './silence.ts';

/** What a statement answers. */
export interface Answer {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly Value[])[];
  /** How many rows it changed or has. */
  readonly count: number;
  /** `COMMIT`, `ROLLBACK`, `SELECT` …, as the server names what it did. */
  readonly command: string;
}

/** A statement with a name, by which the server prepares it once a connection. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

export interface Connection {
  /** The process of the server that works for it. */
  readonly serverPid: number;
  /** Sends a statement. */
  ask(statement: NamedText, values: readonly Value[]): Promise<Answer>;
  /** Sends statements without values that are prepared by none; the answer is that of the last one. */
  say(text: string): Promise<Answer>;
  /** The same for statements without a limit of time. */
  sayAtLength(text: string): Promise<Answer>;
  /** Calls the listener at each notification that another process of the server has sent. */
  onNotification(listener: (channel: string, words: string) => void): void;
  /** Whether it has ended: then no answer comes any more. */
  isLost(): boolean;
  /** Ends it, after the answers of what was sent. */
  close(): Promise<void>;
}

/** A statement is ended before (`settings.ts`), so an answer that takes longer will not come. */
const SILENCE_MS = 75_000;
const SILENT = 'Connection terminated: the server does not answer';

const STALE = 'Connection terminated: its statements were prepared before the schema changed';
/** "cached plan must not change result type": a column was added to a table. */
const isStale = (error: unknown): boolean =>
  error instanceof Error && (error as Error & { readonly routine?: string }).routine === 'RevalidateCachedQuery';

type Parse = (text: string) => Value;

const number: Parse = Number;
const text: Parse = fromPostgres;
/** By the types' numbers: bool, bytea, int8, int2, int4, oid, float4, float8, numeric. All others are text. */
const PARSERS: ReadonlyMap<number, Parse> = new Map([
  [16, (value) => (value === 't' ? 1 : 0)],
  [17, (value) => Buffer.from(value.slice(2), 'hex')],
  ...[20, 21, 23, 26, 700, 701, 1700].map((type): [number, Parse] => [type, number]),
]);

// The types of `pg` say that parsers depend on the format; all values come as text.
const types: CustomTypesConfig = { getTypeParser: (type: number) => PARSERS.get(type) ?? text };

/** Proxies refuse settings as parameters of the connection. */
export const settle = (connection: Pick<Connection, 'say'>): Promise<unknown> => connection.say(SETTINGS);

/**
 * Opens a connection, and prepares it. Rejects with what the server or the network says. `lost` is called once, when it ends by itself
 * later.
 */
export async function connect(
  config: ClientConfig,
  lost: (error: Error) => void,
  prepare: (connection: Connection) => Promise<unknown> = settle,
): Promise<Connection> {
  // Who keeps rows in a file doesn't load it.
  const { Client } = await import('pg');
  const client = new Client({ ...config, types, pipeline: true, keepAlive: true });
  let [isLost, isSilent] = [false, true];
  const end = (error: Error) => {
    if (isLost) return;
    isLost = true;
    if (!isSilent) lost(error);
  };
  client.on('error', end);
  client.on('end', () => end(new Error('Connection terminated')));
  try {
    await client.connect();
    const { stream } = (client as unknown as Internals).connection;
    const watch = watchSilence(systemClock, SILENCE_MS, () => stream.destroy(new Error(SILENT)));
    client.on('end', watch.end);
    const connection = connectionOf(client, watch, () => isLost);
    await prepare(connection);
    isSilent = false;
    const close = async () => {
      isSilent = true;
      await connection.close();
    };
    return { ...connection, close };
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}

function connectionOf(client: Client, { sent, answered }: SilenceWatch, isLost: () => boolean): Connection {
  const { connection, processID: serverPid } = client as unknown as Internals;
  const gather = makeGather(connection.stream);
  const sayAtLength: Connection['say'] = (text) =>
    new Promise((resolve, reject) => {
      gather();
      client.query({ text, rowMode: 'array' }, (error, result) => {
        if (error) reject(error);
        else resolve(answerOf(Array.isArray(result) ? result.at(-1) : result));
      });
    });
  return {
    serverPid,
    ask: ({ name, text }, values) =>
      new Promise((resolve, reject) => {
        gather();
        sent();
        client.query({ name, text, values: values.map(encoded), rowMode: 'array' }, (error, result) => {
          answered();
          if (isStale(error)) {
            // Another one prepares its statements anew.
            connection.stream.destroy(new Error(STALE));
            reject(new Error(STALE));
          } else if (error) reject(error);
          else resolve(answerOf(result));
        });
      }),
    say: (text) => {
      sent();
      return sayAtLength(text).finally(answered);
    },
    sayAtLength,
    onNotification: (listener) =>
      void client.on('notification', ({ processId, channel, payload }) => {
        if (processId !== serverPid) listener(channel, payload ?? '');
      }),
    isLost,
    close: () => client.end(),
  };
}

/** What the types of `pg` leave out of its client. */
interface Internals {
  readonly connection: { readonly stream: Duplex };
  readonly processID: number;
}

/** Statements of one turn of the event loop leave in one write. */
function makeGather(stream: Duplex): () => void {
  let isGathering = false;
  const leave = () => {
    isGathering = false;
    stream.uncork();
  };
  return () => {
    if (isGathering) return;
    isGathering = true;
    stream.cork();
    process.nextTick(leave);
  };
}

const encoded = (value: Value): Value => (typeof value === 'string' ? toPostgres(value) : value);

interface Result {
  readonly fields: readonly { readonly name: string }[];
  readonly rows: unknown[];
  readonly rowCount: number | null;
  readonly command: string;
}

const answerOf = ({ fields, rows, rowCount, command }: Result): Answer => ({
  columns: fields,
  rows: rows as Value[][],
  count: rowCount ?? 0,
  command,
});
