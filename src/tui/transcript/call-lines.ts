// A tool call as lines: what it does and how long it took; unfolded, what it changes or was given, and what came of it.
import { spokenMs } from '../../domain/figures.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Entry } from '../feed/entries.ts';
import { CUT, inputTexts } from '../state/call-words.ts';
import { type ChangedLine, type Changes, changesOf } from '../state/changes.ts';
import { fit, GUARD, hasRightToLeft, shownWidth, widthOf } from '../text/fit.ts';
import { type Line, type Role, type Span, span, widthOfSpans } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';
import { folded, textLines } from './blocks.ts';

export type Call = Extract<Entry, { kind: 'tool' }>;

/** How it is shown: `chosen` has the mark of what keys act on. */
export type CallManner = 'folded' | 'unfolded' | 'chosen' | 'chosen-unfolded';

const MARGIN = 6;
/** Lines of a result that is folded: errors show why. */
const FOLDED_FAILURE = 3;
/** More of one text opens in a pager. */
export const UNFOLDED = 200;

export function callLines(call: Call, width: number, manner: CallManner): readonly Line[] {
  const isUnfolded = manner.endsWith('unfolded');
  const head = headLine(call, width, manner.startsWith('chosen'));
  const { result, input } = call;
  const output = result === null ? '' : result.output.trimEnd();
  const role: Role = result?.ok === false ? 'failed' : 'dim';
  if (!isUnfolded) {
    const isShown = result?.ok === false && output !== '';
    return isShown ? [head, ...folded(textLines(output, width, role, MARGIN), FOLDED_FAILURE, width, MARGIN)] : [head];
  }
  return [
    head,
    ...(input === null ? [] : inputLines(call.name, input.value, width)),
    ...(input?.isCut === true ? [cutLine(width)] : []),
    ...(output === '' ? [] : folded(textLines(output, width, role, MARGIN), UNFOLDED, width, MARGIN)),
    ...(result?.isCut === true ? [cutLine(width)] : []),
  ];
}

const cutLine = (width: number): Line => ({
  spans: [span(' '.repeat(MARGIN)), span(fit(CUT, width - MARGIN), 'faint')],
});

function headLine({ text, name, input, result }: Call, width: number, isChosen: boolean): Line {
  const [glyph, role] =
    result === null
      ? (['▸', 'running'] as const)
      : result.ok
        ? (['▸', 'completed'] as const)
        : (['✗', 'failed'] as const);
  const counts = input === null ? [] : countSpans(changesOf(name, input.value));
  const time = result === null ? ' …' : ` ${spokenMs(result.durationMs)}`;
  // Terminals would draw what follows within a text that is written from right to left.
  const guard = hasRightToLeft(text) ? [span(GUARD)] : [];
  const room = Math.max(1, width - 4 - widthOf(time) - widthOfSpans(counts) - guard.length);
  const own = Math.min(room, shownWidth(text));
  const gap = span(' '.repeat(room - own));
  return {
    spans: [
      span(isChosen ? '❯ ' : '  ', 'accent'),
      span(`${glyph} `, role),
      span(fit(text, own), 'accent'),
      ...guard,
      ...counts,
      gap,
      span(time, result === null ? 'running' : 'dim'),
    ],
  };
}

function countSpans(changes: Changes | null): readonly Span[] {
  if (changes === null) return [];
  const { added, removed } = changes;
  return [
    ...(added === 0 ? [] : [span(` +${added}`, 'running')]),
    ...(removed === 0 ? [] : [span(` -${removed}`, 'failed')]),
  ];
}

const SIGNS: Readonly<Record<ChangedLine['kind'], readonly [sign: string, role: Role]>> = {
  same: ['  ', 'dim'],
  added: ['+ ', 'running'],
  removed: ['- ', 'failed'],
};

/** What a call changes, or else what it was given, a value below the other. */
export function inputLines(name: string, input: JsonObject, width: number): readonly Line[] {
  const changes = changesOf(name, input);
  const lines =
    changes === null
      ? inputTexts(input).flatMap((text) => textLines(text.trimEnd(), width, 'plain', MARGIN))
      : changes.lines.flatMap((line) => changedLines(line, width));
  return folded(lines, UNFOLDED, width, MARGIN);
}

function changedLines({ kind, text }: ChangedLine, width: number): readonly Line[] {
  const [sign, role] = SIGNS[kind];
  return wrap(text, width - MARGIN - sign.length).map((line, at) => ({
    spans: [span(' '.repeat(MARGIN)), span(at === 0 ? sign : '  ', role), span(line, role)],
  }));
}
