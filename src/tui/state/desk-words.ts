// Words of the desk that every view has.
import type { DeskState, Reading } from './desk-state.ts';

/** Why a tab has nothing to show. `reading`: what it has read; the text of a failure is foreign. */
export function emptyWords(
  { tab, stream }: DeskState,
  reading: Reading | undefined,
): { readonly text: string; readonly role: 'failed' | 'dim' } {
  const needsReading = tab !== 'live' && tab !== 'events';
  const failure = needsReading ? (reading?.failure ?? null) : stream.failure;
  if (failure !== null) return { text: failure.message, role: 'failed' };
  const isReading = needsReading ? reading === undefined : stream.kind === 'connecting';
  return { text: isReading ? 'Reading…' : 'Nothing yet.', role: 'dim' };
}
