// Who would lose what by the files of a config directory: asked of the daemon, or read from the data of a stopped one.
import { statSync } from 'node:fs';
import path from 'node:path';
import { isClientFailure, refusalStatusOf } from '../../../client/transport/client-error.ts';
import type { Defined } from '../../../domain/capabilities/pin.ts';
import type { LostPinsWire } from '../../../wire/capabilities/pin.ts';
import type { Context } from '../../frame/context.ts';

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
    if (isClientFailure(error, 'unreachable') && locations.url === null) return readPins(locations.dataDir, defined);
    // An older daemon doesn't know the question.
    if (isClientFailure(error, 'denied') || refusalStatusOf(error) === 404) return null;
    throw error;
  }
}

/** Only of the own data: SQLite leaves files beside a database, which its owner must be able to open. */
async function readPins(dataDir: string, defined: Defined): Promise<LostPinsWire | null> {
  const file = path.join(dataDir, 'errand.db');
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return { pins: [], total: 0 };
  if (stats.uid !== process.getuid?.()) return null;
  const { findLostPins } = await import('../../../store/inspection/find-lost-pins.ts');
  const { SHOWN_PINS, withCommands } = await import('../../../operations/capabilities/pins.ts');
  const lost = findLostPins(file, defined, Date.now(), SHOWN_PINS);
  return lost && withCommands(lost, defined);
}
