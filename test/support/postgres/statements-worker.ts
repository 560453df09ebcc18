// The thread that executes statements for one that waits: see `statements-at-once.ts`.
import { workerData } from 'node:worker_threads';
import { Client, type QueryResult } from 'pg';
import type { Answer, Channel, Order } from './statements-at-once.ts';

const { directory, user, port, answered } = workerData as Channel;
const clients = new Map<string, Promise<Client>>();

async function connect(database: string): Promise<Client> {
  const client = new Client({ host: directory, port: 5432, user, database });
  // Its database was dropped, or the server ends.
  client.on('error', () => clients.delete(database));
  await client.connect();
  return client;
}

async function execute({ database, sql }: Order): Promise<Answer> {
  try {
    const client = clients.get(database) ?? connect(database);
    clients.set(database, client);
    const results: QueryResult<object> | QueryResult<object>[] = await (await client).query<object>(sql);
    return { rows: [results].flat().at(-1)!.rows };
  } catch (error) {
    return { error };
  }
}

async function answer(order: Order): Promise<void> {
  port.postMessage(await execute(order), []);
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

port.on('message', (order: Order) => void answer(order));
