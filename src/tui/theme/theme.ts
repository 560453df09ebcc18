// Colours for roles: none, the terminal's own sixteen, the fixed ones of 256, or true colour; on dark and on light backgrounds.
import type { Line, Role, Span } from '../text/line.ts';
import { nearestCodes } from './palette.ts';

export type ColourDepth = 'none' | 'sixteen' | '256' | 'true';
export type Background = 'dark' | 'light';

/** What draws a line. Values are parameters of SGR sequences; an empty one leaves the terminal's own. */
export interface Theme {
  readonly roles: Readonly<Record<Role, string>>;
  readonly selection: string;
  /** A selection that swaps colours would turn those of the roles into backgrounds. */
  readonly rolesInSelection: boolean;
}

const rgb = (hex: number) => `38;2;${hex >> 16};${(hex >> 8) & 255};${hex & 255}`;

const TRUE_ON_DARK: Theme['roles'] = {
  plain: '',
  strong: '1',
  dim: rgb(0x969eb1),
  faint: rgb(0x6b7280),
  accent: rgb(0x7aa2f7),
  running: rgb(0x9ece6a),
  waiting: rgb(0xe0af68),
  pending: rgb(0x7dcfff),
  completed: rgb(0x84a587),
  failed: rgb(0xf7768e),
  idle: rgb(0x969eb1),
  money: rgb(0xc0a7f0),
  code: rgb(0x89ddff),
  fresh: `1;${rgb(0xffffff)}`,
};

const TRUE_ON_LIGHT: Theme['roles'] = {
  plain: '',
  strong: '1',
  dim: rgb(0x5c6370),
  faint: rgb(0x8b919c),
  accent: rgb(0x2456c7),
  running: rgb(0x29701b),
  waiting: rgb(0x925200),
  pending: rgb(0x0a6892),
  completed: rgb(0x4d6a50),
  failed: rgb(0xc0223b),
  idle: rgb(0x5c6370),
  money: rgb(0x6a2fb8),
  code: rgb(0x0a6892),
  fresh: `1;${rgb(0x000000)}`,
};

const SIXTEEN: Theme['roles'] = {
  plain: '',
  strong: '1',
  dim: '90',
  faint: '90',
  accent: '34',
  running: '32',
  waiting: '33',
  pending: '36',
  completed: '90',
  failed: '31',
  idle: '90',
  money: '35',
  code: '36',
  fresh: '1',
};

/** Many terminals have a yellow and a cyan that can't be read on white. */
const SIXTEEN_ON_LIGHT = { waiting: '35', pending: '34', code: '34' } as const;

/** Without colours there is still bold and dim. */
const NONE: Theme['roles'] = {
  plain: '',
  strong: '1',
  dim: '2',
  faint: '2',
  accent: '1',
  running: '',
  waiting: '',
  pending: '',
  completed: '2',
  failed: '1',
  idle: '2',
  money: '',
  code: '',
  fresh: '1',
};

/** Chooses the colours. */
export function themeFor(depth: ColourDepth, background: Background): Theme {
  if (depth === 'none') return { roles: NONE, selection: '7', rolesInSelection: false };
  if (depth === 'sixteen') {
    const roles = { ...SIXTEEN, ...(background === 'dark' ? { accent: '94' } : SIXTEEN_ON_LIGHT) };
    return { roles, selection: '7', rolesInSelection: false };
  }
  const isDark = background === 'dark';
  const theme = {
    roles: isDark ? TRUE_ON_DARK : TRUE_ON_LIGHT,
    selection: isDark ? '48;2;40;48;70' : '48;2;221;229;247',
    rolesInSelection: true,
  };
  if (depth === 'true') return theme;
  const roles = Object.entries(theme.roles).map(([role, codes]) => [role, nearestCodes(codes)]);
  return {
    ...theme,
    roles: Object.fromEntries(roles) as Theme['roles'],
    selection: isDark ? '48;5;236' : '48;5;254',
  };
}

/** A line with its colours, ready for the terminal. Neighbours of one colour are drawn together: each change costs. */
export function paintLine({ spans, selected = false, beside = [] }: Line, theme: Theme): string {
  return paintSpans(spans, selected, theme) + paintSpans(beside, false, theme);
}

function paintSpans(spans: readonly Span[], selected: boolean, theme: Theme): string {
  let painted = '';
  let codes = '';
  for (const { text, role } of spans) {
    if (text === '') continue;
    const own = selected && !theme.rolesInSelection ? '' : theme.roles[role];
    const isBlank = text.trim() === '';
    const wanted = join(isBlank ? '' : own, selected ? theme.selection : '');
    if (wanted !== codes) {
      painted += codes === '' ? '' : RESET;
      painted += wanted === '' ? '' : `\u001b[${wanted}m`;
      codes = wanted;
    }
    painted += text;
  }
  return codes === '' ? painted : painted + RESET;
}

const RESET = '\u001b[0m';

const join = (...codes: readonly string[]) => codes.filter((code) => code !== '').join(';');
