// The state of each screen. A new screen adds its line to `Screens`, and its component to `app/screen-table.ts`.
import type { ClientError } from '../../client/transport/client-error.ts';
import type { SourceType, TodayRunsWire } from '../../client/office.ts';
import { type Choice, type DeskState, FIRST } from './desk-state.ts';
import type { RunStatus } from './office.ts';
import type { Order } from './order.ts';

export { ORDERS, type Order } from './order.ts';

export interface Screens {
  readonly floor: FloorState;
  readonly today: TodayState;
  readonly desk: DeskState;
}

export type ScreenName = keyof Screens;

export const STATUS_FILTERS = ['all', 'running', 'pending', 'failed', 'completed', 'idle'] as const;
export type StatusFilter = 'all' | RunStatus;

/** The list of teams to choose from: those that were found by what is typed, after one line for all. */
export interface TeamPicker {
  readonly find: string;
  readonly chosen: Choice;
}

export interface FloorState {
  readonly name: 'floor';
  readonly chosen: Choice;
  /** Only this team's runs; null: everybody's. */
  readonly teamId: string | null;
  readonly status: StatusFilter;
  readonly order: Order;
  readonly isReversed: boolean;
  /** Only rows with this text. */
  readonly find: string;
  readonly isFinding: boolean;
  /** Null while no team is being chosen. */
  readonly picker: TeamPicker | null;
  /** What is read along beside the list; null where there is no room for it, or no run was chosen. */
  readonly pane: Pane | null;
}

/** A run that is read along. */
export interface Pane {
  readonly runId: string;
  readonly desk: DeskState;
}

export interface TodayState {
  readonly name: 'today';
  readonly teamId: string;
  readonly teamName: string;
  readonly source: SourceType | null;
  readonly page: number;
  readonly chosen: Choice;
  /** Null until the first page has come. */
  readonly runs: TodayRunsWire | null;
  readonly failure: ClientError | null;
}

export function floor(over: Partial<FloorState> = {}): FloorState {
  return {
    name: 'floor',
    chosen: FIRST,
    teamId: null,
    status: 'all',
    order: 'newest',
    find: '',
    isReversed: false,
    isFinding: false,
    picker: null,
    pane: null,
    ...over,
  };
}

export function today(teamId: string, teamName: string): TodayState {
  return { name: 'today', teamId, teamName, source: null, page: 1, chosen: FIRST, runs: null, failure: null };
}

/** The next of a cycle of values, or the one before. */
export function nextOf<T>(values: readonly T[], value: T, by: 1 | -1 = 1): T {
  return values[(values.indexOf(value) + by + values.length) % values.length] as T;
}
