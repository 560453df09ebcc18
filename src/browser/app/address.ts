// What an address of the office shows, and the address of what is shown: it can be sent to somebody else. Pure.
import { desk, type DeskState, TAB_NAMES } from '../../tui/state/desk-state.ts';
import { floor, type FloorState, ORDERS, STATUS_FILTERS } from '../../tui/state/screens.ts';

const MOST_CHARACTERS = 200;
const SESSION = /^\/sessions\/([\w-]{1,64})\/?$/;

type Screen = FloorState | DeskState;

/** The screens of an address, the shown one last. `path` is what follows the office's own. */
export function screensOf(path: string, query: string): readonly Screen[] {
  const asked = new URLSearchParams(query);
  const [, sessionId] = SESSION.exec(path) ?? [];
  if (sessionId === undefined) return [floorOf(asked)];
  return [floor(), { ...desk(sessionId), tab: oneOf(TAB_NAMES, asked.get('tab')) ?? 'live' }];
}

function floorOf(asked: URLSearchParams): FloorState {
  return floor({
    teamId: asked.get('team')?.slice(0, MOST_CHARACTERS) || null,
    status: oneOf(STATUS_FILTERS, asked.get('status')) ?? 'all',
    order: oneOf(ORDERS, asked.get('order')) ?? 'newest',
    isReversed: asked.has('reversed'),
    find: asked.get('find')?.slice(0, MOST_CHARACTERS) ?? '',
  });
}

/** The path and query of a screen, below the office's own. Only what differs from the usual is named. */
export function addressOf(screen: Screen): string {
  if (screen.name === 'desk') {
    return `/sessions/${encodeURIComponent(screen.sessionId)}${queryOf({ tab: screen.tab === 'live' ? '' : screen.tab })}`;
  }
  const { teamId, status, order, isReversed, find } = screen;
  return queryOf({
    team: teamId ?? '',
    status: status === 'all' ? '' : status,
    order: order === 'newest' ? '' : order,
    reversed: isReversed ? '1' : '',
    find,
  });
}

function queryOf(fields: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''));
  return query.size === 0 ? '' : `?${query}`;
}

function oneOf<T extends string>(values: readonly T[], value: string | null): T | undefined {
  return values.find((one) => one === value);
}
