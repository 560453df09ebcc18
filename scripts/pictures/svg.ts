// A captured screen as an SVG: text stays text, and its colours follow the reader's light or dark scheme.
import stringWidth from 'string-width';
import { themeFor } from '../../src/tui/theme/theme.ts';

/** How a run of characters looks. Colours are the parameters of SGR sequences, such as `31` or `38;2;1;2;3`. */
interface Look {
  readonly ink: string;
  readonly paper: string;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isInverse: boolean;
}

interface Piece {
  readonly column: number;
  readonly width: number;
  readonly text: string;
  readonly look: Look;
}

/** A colour on a dark and on a light background. */
type Pair = readonly [dark: string, light: string];

export interface Picture {
  /** Alternative text for screen readers. */
  readonly title: string;
  readonly columns: number;
  /** The lines of `tmux capture-pane -e`. */
  readonly lines: readonly string[];
}

const FONT = `ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace`;
const CELL = { width: 8.4, height: 18, size: 14, baseline: 13 };
const MARGIN = 12;
const PLAIN: Look = { ink: '', paper: '', isBold: false, isDim: false, isInverse: false };
const INK: Pair = ['#c8cee0', '#24292f'];
const PAPER: Pair = ['#16181f', '#ffffff'];
const BORDER: Pair = ['#2c303c', '#d0d7de'];
const SIXTEEN: Readonly<Record<string, Pair>> = {
  '31': ['#f7768e', '#c0223b'],
  '32': ['#9ece6a', '#2f7d1f'],
  '33': ['#e0af68', '#a05a00'],
  '34': ['#7aa2f7', '#2456c7'],
  '35': ['#c0a7f0', '#6a2fb8'],
  '36': ['#7dcfff', '#0b6f9c'],
  '90': ['#969eb1', '#5c6370'],
};

/** The whole file. */
export function svgOf({ title, columns, lines }: Picture): string {
  const classes = new Map<string, Pair>();
  const classOf = (pair: Pair) => {
    const known = [...classes].find(([, [dark, light]]) => dark === pair[0] && light === pair[1]);
    if (known !== undefined) return known[0];
    const name = `c${classes.size}`;
    classes.set(name, pair);
    return name;
  };
  const body = rowsOf(lines).flatMap((pieces, row) => pieces.map((piece) => drawn(piece, row, classOf)));
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  const frame = `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" class="${classOf(PAPER)}" stroke-width="1"/>`;
  const fills = (side: 0 | 1) => [...classes].map(([name, pair]) => `.${name}{fill:${pair[side]}}`).join('');
  const style = (side: 0 | 1) =>
    `text{fill:${INK[side]}}${fills(side)}rect{stroke:none;shape-rendering:crispEdges}rect[rx]{stroke:${BORDER[side]};shape-rendering:auto}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>text{font:${CELL.size}px ${FONT};white-space:pre}.b{font-weight:700}.d{opacity:.6}${style(0)}@media(prefers-color-scheme:light){${style(1)}}</style>`,
    frame,
    ...body,
    '</svg>\n',
  ].join('\n');
}

function drawn({ column, width, text, look }: Piece, row: number, classOf: (pair: Pair) => string): string {
  const x = round(MARGIN + column * CELL.width);
  const y = MARGIN + row * CELL.height;
  const length = round(width * CELL.width);
  const paper = look.isInverse ? INK : look.paper === '' ? undefined : pairOf(look.paper);
  const back = paper && `<rect x="${x}" y="${y}" width="${length}" height="${CELL.height}" class="${classOf(paper)}"/>`;
  if (text.trim() === '') return back ?? '';
  const ink = look.isInverse ? PAPER : look.ink === '' ? undefined : pairOf(look.ink);
  const names = [ink && classOf(ink), look.isBold && 'b', look.isDim && 'd'].filter(Boolean).join(' ');
  // Whatever the reader's font, a piece is as wide as its cells; bars are stretched so that they have no gaps.
  const fit = /^[\u2500-\u259f]+$/.test(text) ? ' lengthAdjust="spacingAndGlyphs"' : '';
  return `${back ?? ''}<text x="${x}" y="${y + CELL.baseline}" textLength="${length}"${fit}${names && ` class="${names}"`}>${escaped(text)}</text>`;
}

/** A change of the look, a bar, a gap between columns, or a word with the space before it. */
// oxlint-disable-next-line no-control-regex
const PARTS = /\u001b\[([\d;]*)m|[\u2500-\u259f]+| {2,}| ?[^\u001b\u2500-\u259f ]+| /g;

/** The lines as pieces of one style each, without the spaces between columns. */
function rowsOf(lines: readonly string[]): readonly (readonly Piece[])[] {
  let look = PLAIN;
  return lines.map((line) => {
    let column = 0;
    const pieces: Piece[] = [];
    for (const [part, codes] of line.matchAll(PARTS)) {
      if (codes !== undefined) {
        look = lookAfter(look, codes);
        continue;
      }
      const width = stringWidth(part);
      const last = pieces.at(-1);
      const joins = last !== undefined && last.look === look && isWord(part) && isWord(last.text);
      if (joins) pieces.splice(-1, 1, { ...last, width: last.width + width, text: last.text + part });
      else pieces.push({ column, width, text: part, look });
      column += width;
    }
    return pieces.filter(({ text, look: own }) => text.trim() !== '' || own.paper !== '' || own.isInverse);
  });
}

const isWord = (text: string) => !/^( {2,}|[\u2500-\u259f]+)$/.test(text);

function lookAfter(look: Look, codes: string): Look {
  let after = look;
  for (const [code] of codes.matchAll(/[34]8;2;\d+;\d+;\d+|\d+/g)) after = { ...after, ...changeOf(code) };
  return codes === '' ? PLAIN : after;
}

function changeOf(code: string): Partial<Look> {
  if (code.startsWith('38;')) return { ink: code };
  if (code.startsWith('48;')) return { paper: code };
  return CHANGES[code] ?? (/^(3\d|9\d)$/.test(code) ? { ink: code } : {});
}

const CHANGES: Readonly<Record<string, Partial<Look>>> = {
  '0': PLAIN,
  '1': { isBold: true },
  '2': { isDim: true },
  '7': { isInverse: true },
  '22': { isBold: false, isDim: false },
  '27': { isInverse: false },
  '39': { ink: '' },
  '49': { paper: '' },
};

/** The colours of the view on a dark background, with what they are on a light one. */
const THEME: ReadonlyMap<string, string> = (() => {
  const [dark, light] = [themeFor('true', 'dark'), themeFor('true', 'light')];
  const roles = Object.keys(dark.roles) as (keyof typeof dark.roles)[];
  const pairs = roles.map((role) => [colourIn(dark.roles[role]), colourIn(light.roles[role])] as const);
  return new Map([...pairs, [dark.selection, light.selection]]);
})();

function colourIn(codes: string): string {
  return /[34]8;2;\d+;\d+;\d+/.exec(codes)?.[0] ?? '';
}

function pairOf(code: string): Pair {
  const known = SIXTEEN[code.replace(/^9([1-6])$/, '3$1')];
  if (known !== undefined) return known;
  return [hexOf(code) ?? INK[0], hexOf(THEME.get(code) ?? code) ?? INK[1]];
}

function hexOf(code: string): string | undefined {
  const parts = /^[34]8;2;(\d+);(\d+);(\d+)$/.exec(code)?.slice(1).map(Number);
  return parts && `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

const round = (length: number) => Math.round(length * 10) / 10;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
