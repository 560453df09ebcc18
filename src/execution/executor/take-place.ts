// From the claim to a place for the run. Waiting for it does not count as run time (docs/DECISIONS/0005).
import { ownBytesOf } from '../brief/brief-room.ts';
import type { Place } from './worker-pool.ts';
import type { RunState } from './run-state.ts';

/** Waits until the run may start, or was aborted. Rejects when the size of its turn can't be read. */
export async function takePlace(state: RunState): Promise<Place> {
  await state.baseline.workspaceFree();
  const { pool, store } = state.parts;
  const { run } = state.claim;
  const place = pool.take(run.id, await ownBytesOf(store, run));
  state.place = place;
  if (state.abortedFor !== undefined) place.leave();
  if (place.takesNoSlot) state.slotFreed();
  await place.ready;
  return place;
}
