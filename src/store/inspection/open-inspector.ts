// Opens a store for those who look at it from beside.
import type { Inspector } from '../engine/inspector.ts';
import { openFileInspector } from '../engine/sqlite/inspector.ts';
import type { StoreLocation } from '../location.ts';

/** Opens it. Throws what says why it can't be read. */
export async function openInspector(location: StoreLocation): Promise<Inspector> {
  return openFileInspector(location.file);
}
