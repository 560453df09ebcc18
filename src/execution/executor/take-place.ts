// From the claim to a place for the run. Waiting for it does not count as run time (docs/DECISIONS/0025).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ownBytesOf } from '../brief/brief-room.ts';
import type { Place } from './worker-pool.ts';
import { abort, callOffUnkept, type RunState } from './run-state.ts';

/** Waits until the run may start, or was aborted. Rejects when the size of its turn can't be read. */
export async function takePlace(state: RunState): Promise<Place> {
  const { runs } = state.parts.store;
  const place = findPlace(state);
  // Nearly every run gets its place at once, and nothing is written for it.
  if (await isNear(place)) return place;
  await note(state, runs.waitForWorker(state.fence));
  await place;
  if (state.abortedFor === undefined) await note(state, runs.beginWork(state.fence));
  return place;
}

async function findPlace(state: RunState): Promise<Place> {
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

function isNear(place: Promise<Place>): Promise<boolean> {
  return Promise.race([place.then(() => true), nextTurn(false)]);
}

async function note(state: RunState, write: Promise<boolean>): Promise<void> {
  try {
    if (!(await write)) abort(state, 'fenced');
  } catch (error) {
    callOffUnkept(state, error);
  }
}
