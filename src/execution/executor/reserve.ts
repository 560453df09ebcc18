// From a run that may start to a thread for it. Waiting for it does not count as run time (docs/DECISIONS/0005).
import { ownBytesOf } from '../brief/brief-room.ts';
import type { Reservation } from '../pool/worker-pool.ts';
import type { RunState } from './run-state.ts';

/** Waits until the run gets a thread, or was aborted. Rejects when the size of its turn can't be read. */
export async function reserve(state: RunState): Promise<Reservation> {
  const { pool, store } = state.parts;
  const { run } = state.claim;
  const reservation = pool.reserve(run.id, await ownBytesOf(store, run));
  state.reservation = reservation;
  if (state.abortedFor !== undefined) reservation.leave();
  if (reservation.takesNoSlot) state.slotFreed();
  await reservation.ready;
  return reservation;
}
