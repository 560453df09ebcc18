// Whether colours are wanted, and colouring text with them.
import { styleText } from 'node:util';

export type Style = 'bold' | 'cyan' | 'green' | 'yellow' | 'red' | 'dim';

/** The variables that decide about colours. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether output should be coloured. `FORCE_COLOR` decides first: 0 or false disables colours, anything else enables them.
 * Otherwise, colours are for terminals, unless `NO_COLOR` is set or `TERM` is dumb.
 */
export function wantsColours(isTerminal: boolean, environment: Environment): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: term } = environment;
  if (forced) return forced !== '0' && forced !== 'false';
  return isTerminal && !refused && term !== 'dumb';
}

/** Colours text; the caller decides whether colours are wanted. */
export function paint(text: string, style: Style): string {
  return styleText(style, text, { validateStream: false });
}
