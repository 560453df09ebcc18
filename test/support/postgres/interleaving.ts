// Verbs of a store on one connection of PostgreSQL, statement by statement, in an order that the test chooses; then all of it is undone.
import type { Database, Scope } from '../../../src/store/engine/database.ts';
import {
  type AddedEvents,
  makeAddedEvents,
  makeStreamSeqs,
} from '../../../src/store/engine/postgres/commits/journal.ts';
import type { ScopedVerb } from '../../../src/store/engine/postgres/commits/transact.ts';
import type { Connection, NamedText } from '../../../src/store/engine/postgres/connections/connection.ts';
import { carryOut, makePipeline, type Pipeline } from '../../../src/store/engine/postgres/statements/execute.ts';
import { makeKeys } from '../../../src/store/engine/postgres/statements/keys.ts';
import { type Step, StepTransaction, type Transaction } from '../../../src/store/engine/statement.ts';
import { makeStore, type Store } from '../../../src/store/open-store.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';

/** Catches the verbs that are called, with their scopes, in place of carrying them out. */
export async function caughtVerb(call: (store: Store) => Promise<unknown>): Promise<ScopedVerb> {
  const caught: ScopedVerb[] = [];
  const keep = (verb: (tx: Transaction) => Step<unknown>, scope: Scope = 'all') => {
    caught.push({ verb, scope });
    return Promise.resolve({});
  };
  const database = {
    peers: null,
    write:
      (verb, options) =>
      (...args) =>
        keep((tx) => verb(tx, ...args), options?.scope?.(args[0])),
    writeAll: (verb, options) => (item) => keep((tx) => verb(tx, [item]), options?.scope?.(item)),
    read: () => () => Promise.resolve({}),
    onCommitted: () => undefined,
  } as Pick<Database, 'peers' | 'write' | 'writeAll' | 'read' | 'onCommitted'> as Database;
  await call(makeStore(database, renderBody));
  if (caught.length !== 1) throw new Error(`${caught.length} verbs were called`);
  return caught[0]!;
}

/** Whose statement is next, one after another: of the first or of the second verb. Then whichever has one left. */
export type Order = readonly (0 | 1)[];

/** What became of two verbs. */
export interface Outcome {
  /** Their results, and all that they have written; `duplicate` where one has met a key of the other, which undoes both. */
  readonly what: string;
  /** How many statements each had. */
  readonly statements: readonly [number, number];
}

export type Drive = (verbs: readonly [ScopedVerb, ScopedVerb], order: Order) => Promise<Outcome>;

/** A verb on its way. */
interface Driven {
  readonly waiting: (() => Promise<unknown>)[];
  count: number;
  result: Promise<unknown>;
}

const TABLES = `SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 1`;
/** How many rows a table has, and those that this transaction has written. */
const writtenIn = (table: string) => `SELECT '${table} ' || count(*)::text FROM ${table}
  UNION ALL SELECT '${table} ' || to_jsonb(t)::text FROM ${table} t WHERE xmin = pg_current_xact_id()::xid`;

/** `now`: the time of all verbs. */
export async function makeDrive(connection: Connection, now: number): Promise<Drive> {
  const keys = makeKeys();
  await connection.say(DRAW_FAR);
  const tables = (await connection.say(TABLES)).rows.map(([name]) => String(name));
  const written = { name: 'written', text: tables.map(writtenIn).join(' UNION ALL ') };
  const all = tables.map((table) => `SELECT to_jsonb(t)::text FROM ${table} t`).join(' UNION ALL ');
  const known = new Set((await connection.say(all)).rows.flatMap(([row]) => String(row).match(UUID) ?? []));

  function begin({ verb }: ScopedVerb, all: Pipeline, events: AddedEvents): Driven {
    const driven: Driven = { waiting: [], count: 0, result: Promise.resolve() };
    const pipeline = gated(all, driven);
    const tx = new StepTransaction(now);
    const act = async () => {
      const result = await carryOut(pipeline, verb(tx));
      await events.add(tx);
      return result;
    };
    driven.result = act();
    driven.result.catch(() => undefined);
    return driven;
  }

  async function advance(verbs: readonly Driven[], order: Order): Promise<void> {
    for (let at = 0; ; at += 1) {
      // Verbs go on to their next statement.
      await new Promise((resolve) => setImmediate(resolve));
      const chosen = at < order.length ? verbs[order[at]!] : undefined;
      const next = chosen ?? verbs.find(({ waiting }) => waiting.length > 0);
      if (next === undefined) return;
      await next.waiting.shift()?.();
    }
  }

  return async (verbs, order) => {
    keys.refill(connection);
    await connection.say('BEGIN');
    try {
      const pipeline = makePipeline(connection, { keys, beforeEvents: () => events.send() });
      const events = makeAddedEvents(pipeline, makeStreamSeqs());
      const driven = verbs.map((verb) => begin(verb, pipeline, events));
      await advance(driven, order);
      const results = await Promise.all(driven.map(({ result }) => result));
      events.send();
      // Of a statement that nobody waits for.
      if (pipeline.failure() !== undefined) throw pipeline.failure();
      const rows = (await connection.ask(written, [])).rows.map(([row]) => comparable(String(row), known));
      const what = [...results.map((result) => comparable(JSON.stringify(result), known)), ...rows.sort()].join('\n');
      return { what, statements: [driven[0]!.count, driven[1]!.count] };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === DUPLICATE)) throw error;
      return { what: 'duplicate', statements: [0, 0] };
    } finally {
      await connection.say('ROLLBACK');
    }
  };
}

/** Each statement waits until it is let go; nothing else is sent before its answer. */
function gated(pipeline: Pipeline, driven: Driven): Pipeline {
  const gate = (send: () => Promise<unknown>) => {
    driven.count += 1;
    driven.waiting.push(send);
  };
  const before = ({ text }: NamedText) => {
    if (/\bevents\b/.test(text)) pipeline.writing?.beforeEvents();
  };
  return {
    ...pipeline,
    ask: (statement, values) =>
      new Promise((resolve, reject) =>
        gate(() => {
          before(statement);
          return pipeline.ask(statement, values).then(resolve, reject);
        }),
      ),
    send: (statement, values) =>
      gate(() => {
        before(statement);
        return pipeline.ask(statement, values).catch(() => undefined);
      }),
  };
}

/** SQLSTATE. */
const DUPLICATE = '23505';
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Numbers that are drawn have seven digits. */
const DRAW_FAR = `SELECT setval(oid::regclass, 1000000, false) FROM pg_class
  WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace`;
const DRAWN = /\b1\d{6}\b/g;

/** Without what no two runs have in common: numbers and ids that are drawn; and how much of a budget is used when that is told. */
const comparable = (text: string, known: ReadonlySet<string>): string =>
  text
    .replace(UUID, (id) => (known.has(id) ? id : 'new'))
    .replace(DRAWN, 'new')
    .replace(/\d+ % of a budget/g, 'most of a budget');
