// The first tab: the session as it happens.
import { elapsed } from './durations.ts';
import { EMPTY, type Line, span } from '../text/line.ts';
import { fit, widthOf } from '../text/fit.ts';
import { wrap } from '../text/wrap.ts';
import { type Entries, entriesOf, type Entry } from './entries.ts';
import { folded, rememberLines, type Tab, textLines } from './tab.ts';

const MARGIN = 2;
/** Lines of a result that is folded: errors say why. */
const FOLDED = { ok: 0, failed: 3 };
const UNFOLDED = 200;

const linesOf = rememberLines<Entry>((entry, width, isUnfolded) => {
  if (entry.kind === 'text') return entry.text === '' ? [EMPTY] : textLines(entry.text, width, 'plain', MARGIN);
  if (entry.kind === 'news') return newsLines(entry, width);
  return toolLines(entry, width, isUnfolded);
});

function newsLines({ glyph, role, text }: Entry & { readonly kind: 'news' }, width: number): readonly Line[] {
  return wrap(text, width - 4).map((line, at) => ({
    spans: [span(at === 0 ? `${glyph} ` : '  ', role), span(line, role)],
  }));
}

function toolLines({ text, result }: Entry & { readonly kind: 'tool' }, width: number, isUnfolded: boolean): Line[] {
  const [glyph, role] =
    result === null
      ? (['▸', 'running'] as const)
      : result.ok
        ? (['▸', 'completed'] as const)
        : (['✗', 'failed'] as const);
  const right = result === null ? ' …' : ` ${elapsed(result.durationMs)}`;
  const room = Math.max(1, width - 4 - widthOf(right));
  const head: Line = {
    spans: [
      span('  '),
      span(`${glyph} `, role),
      span(fit(text, room), 'accent'),
      span(right, result === null ? 'running' : 'dim'),
    ],
  };
  if (result === null || result.output.trim() === '') return [head];
  const most = isUnfolded ? UNFOLDED : result.ok ? FOLDED.ok : FOLDED.failed;
  if (most === 0) return [head];
  const all = textLines(result.output.trimEnd(), width, result.ok ? 'dim' : 'failed', 6);
  return [head, ...folded(all, most, width, 6)];
}

/** One session is shown at a time; entries continue from those of the frame before. */
let made: Entries | null = null;

export const live: Tab = {
  name: 'live',
  title: 'Live',
  shortTitle: 'Live',
  items: ({ log, isUnfolded }, _data, width) => {
    made = entriesOf(log.events, made);
    const { list } = made;
    return {
      count: list.length,
      keyAt: (at) => list[at]?.key ?? 0,
      linesAt: (at) => {
        const entry = list[at];
        return entry === undefined ? [] : linesOf(entry, width, isUnfolded);
      },
      startsAtEnd: true,
    };
  },
};
