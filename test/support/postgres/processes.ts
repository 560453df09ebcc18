// A store whose calls go in turns to several processes' stores on one database, for tests of what they do to each other.
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { openPostgres } from '../../../src/store/engine/postgres/open-database.ts';
import { makeStore, type Store } from '../../../src/store/open-store.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';
import { addressOf } from './address-of.ts';
import { databaseFor, rowsIn } from './shared-cluster.ts';
import { waitFor } from '../time/wait-for.ts';
import { aSharing } from './sharing.ts';

type Verbs = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** The store of one of the processes on the database that stands for a file. */
export function openProcess(file: string, clock: Clock): Store {
  const address = addressOf(databaseFor(file));
  const own = { ...systemClock, now: () => clock.now() };
  return makeStore(openPostgres(address, own, { connections: 3, sharing: aSharing() }), renderBody);
}

/** Opens so many stores. What is said of their state, such as what was committed, is of the first. */
export function openProcesses(file: string, clock: Clock, count: number): Store {
  const stores = Array.from({ length: count }, () => openProcess(file, clock));
  let [calls, told] = [0, 0];
  let opened: Promise<unknown> | undefined;
  stores[0]!.onCommitted((events) => (told = events.at(-1)!.id));
  /** What is committed is told to the first, as it is at once where there is one alone. */
  const isTold = async () => {
    const [newest] = rowsIn<{ id: number | null }>(file, 'SELECT max(id) AS id FROM events');
    return told >= (newest!.id ?? 0);
  };
  const inTurns = (room: string) =>
    new Proxy<Verbs>(
      {},
      {
        get:
          (_, verb: string) =>
          async (...args: unknown[]) => {
            await (opened ??= Promise.all(stores.map((one) => one.answered())));
            const store = stores[(calls += 1) % count] as unknown as Readonly<Record<string, Verbs>>;
            const result = await store[room]![verb]!(...args);
            await waitFor(isTold);
            return result;
          },
      },
    );
  const rooms = Object.entries(stores[0]!).map(([name, value]) => [
    name,
    typeof value === 'object' ? inTurns(name) : value,
  ]);
  const close = async () => void (await Promise.all(stores.map((store) => store.close())));
  return { ...Object.fromEntries(rooms), close } as Store;
}
