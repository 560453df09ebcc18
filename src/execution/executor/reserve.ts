// From the claim to a thread for the run. Waiting for it does not count as run time (docs/DECISIONS/0005).
import { ownBytesOf } from '../brief/brief-room.ts';
import type { Reservation } from '../pool/worker-pool.ts';
import type { RunState } from './run-state.ts';

/** Waits until the run may start, or was aborted. Rejects when the size of its turn can't be read. */
export async function reserve(state: RunState): Promise<Reservation> {
  await state.baseline.workspaceFree();
  const { pool, store } = state.parts;
  const { run } = state.claim;
  const reservation = pool.reserve(run.id, await ownBytesOf(store, run));
  state.reservation = reservation;
  if (state.abortedFor !== undefined) reservation.leave();
  if (reservation.takesNoSlot) state.slotFreed();
  await reservation.ready;
  return reservation;
}
