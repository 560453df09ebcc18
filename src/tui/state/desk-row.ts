// The run that the heading of a desk is about. Pure.
import type { EntityWire } from '../../client/office.ts';
import type { DeskState } from './desk-state.ts';
import { isLive, type Row } from './office.ts';
import { type AppState, officeShown } from './state.ts';
import { rowOf } from './take-snapshot.ts';

/** What of a session is read where no row of the office is of it, under this name. */
export const HEADING = 'heading';

/** The live run of the session, or another one that the office knows; else the newest, once it was read. */
export function rowOfDesk(state: AppState, { sessionId, readings }: DeskState): Row | undefined {
  const row = rowInOffice(state, sessionId);
  const [entity] = (readings[HEADING]?.data ?? []) as readonly EntityWire[];
  return row ?? (entity && rowOf(entity, undefined, 0));
}

/** Whether it is to be read: snapshots have no room for every session. */
export const lacksRow = (state: AppState, { sessionId }: DeskState): boolean =>
  state.office.loadedAt !== null && rowInOffice(state, sessionId) === undefined;

function rowInOffice(state: AppState, sessionId: string): Row | undefined {
  const rows = [...officeShown(state).rows.values()].filter((row) => row.sessionId === sessionId && row.title !== '');
  return rows.find(isLive) ?? rows[0];
}
