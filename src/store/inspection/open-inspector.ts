// Opens a store for those who look at it from beside.
import type { Inspector } from '../engine/inspector.ts';
import { openServerInspector } from '../engine/postgres/inspector.ts';
import { openFileInspector } from '../engine/sqlite/inspector.ts';
import type { StoreLocation } from '../location.ts';

/** Opens it. Rejects with what says why it can't be read. */
export async function openInspector(location: StoreLocation): Promise<Inspector> {
  return location.kind === 'sqlite' ? openFileInspector(location.file) : openServerInspector(location.address);
}
