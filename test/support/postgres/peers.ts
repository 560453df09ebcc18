// Processes of an installation in one: a store each on one database, with what it publishes and what it tells the others.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { type Bus, makeBus } from '../../../src/events/bus.ts';
import { makeWakes, type Wakes } from '../../../src/events/wakes.ts';
import { openPostgres } from '../../../src/store/engine/postgres/open-database.ts';
import { makeStore, type Store } from '../../../src/store/open-store.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { type StoreFixture, storeFixture } from '../store/store-fixture.ts';
import { addressOf } from './address-of.ts';
import { databaseFor } from './shared-cluster.ts';
import { aSharing } from './sharing.ts';

export interface Peer {
  readonly store: Store;
  readonly bus: Bus;
  readonly wakes: Wakes;
}

function openPeer(file: string, clock: Clock): Store {
  const address = addressOf(databaseFor(file));
  const own = { ...systemClock, now: () => clock.now() };
  return makeStore(openPostgres(address, own, { connections: 3, sharing: aSharing() }), renderBody);
}

/** Opens two of them. The fixture is that of the first; its clock is the wall clock of both. */
export async function openPeers(): Promise<{ readonly fixture: StoreFixture; readonly peers: readonly [Peer, Peer] }> {
  const file = join(temporaryDirectory(), 'errand.db');
  const fixture = await storeFixture(file, {}, openPeer);
  const other = openPeer(file, fixture.clock);
  onTestFinished(() => other.close());
  await other.answered();
  const [north, south] = [fixture.store, other].map((store): Peer => {
    const bus = makeBus();
    store.onCommitted(bus.publish);
    return { store, bus, wakes: makeWakes(store.peers) };
  });
  return { fixture, peers: [north!, south!] };
}
