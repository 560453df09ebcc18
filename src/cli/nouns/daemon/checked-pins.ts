// Who would lose what by the files of a config directory: asked of the daemon, or read from the data of a stopped one.
import { statSync } from 'node:fs';
import { isClientFailure, refusalStatusOf } from '../../../client/transport/client-error.ts';
import type { Defined } from '../../../domain/capabilities/pin.ts';
import type { LostPinsWire } from '../../../wire/capabilities/pin.ts';
import type { StoreLocation } from '../../../store/location.ts';
import type { Context } from '../../frame/context.ts';
import { storeOf } from '../../frame/store-of.ts';

/** Null when neither can be asked, such as by another user than that of the data. */
export async function lostPinsBy(context: Context, defined: Defined): Promise<LostPinsWire | null> {
  const { client, locations } = context;
  const { model, scenario, expert, team } = defined;
  try {
    return await client().lostPins({
      models: [...model],
      scenarios: [...scenario],
      experts: [...expert],
      teams: [...team],
    });
  } catch (error) {
    if (isClientFailure(error, 'unreachable') && locations.url === null) return readPins(context, defined);
    // An older daemon doesn't know the question.
    if (isClientFailure(error, 'denied') || refusalStatusOf(error) === 404) return null;
    throw error;
  }
}

/** Null also where the files can't be found wrong because a server doesn't answer. */
async function readPins(context: Context, defined: Defined): Promise<LostPinsWire | null> {
  const store = await storeOf(context).catch(() => null);
  if (store === null) return null;
  if (store.kind === 'postgres') return pinsIn(store, defined).catch(() => null);
  const stats = statSync(store.file, { throwIfNoEntry: false });
  if (stats === undefined) return { pins: [], total: 0 };
  // Only of the own data: SQLite leaves files beside a database, which its owner must be able to open.
  return stats.uid === process.getuid?.() ? pinsIn(store, defined) : null;
}

async function pinsIn(store: StoreLocation, defined: Defined): Promise<LostPinsWire | null> {
  const { findLostPins } = await import('../../../store/inspection/find-lost-pins.ts');
  const { SHOWN_PINS, withCommands } = await import('../../../operations/capabilities/pins.ts');
  const lost = await findLostPins(store, defined, Date.now(), SHOWN_PINS);
  return lost && withCommands(lost, defined);
}
