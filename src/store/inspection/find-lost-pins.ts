// Pins in a store that no daemon holds.
import type { Defined, LostPins } from '../../domain/capabilities/pin.ts';
import { isUsable } from '../engine/schema.ts';
import type { StoreLocation } from '../location.ts';
import { lostPinsIn } from '../people/pins.ts';
import { openInspector } from './open-inspector.ts';

/** Pins to what isn't defined, some of them named. Null for a schema that this code can't use. Throws what the engine throws. */
export async function findLostPins(
  location: StoreLocation,
  defined: Defined,
  at: number,
  shown: number,
): Promise<LostPins | null> {
  const store = await openInspector(location);
  try {
    if (!isUsable(await store.schema())) return null;
    return await store.look((tx) => lostPinsIn(tx, defined, at, shown));
  } finally {
    await store.close();
  }
}
