// The list of keys, over whatever screen it was asked on.
import { frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import { MARKS } from '../state/run-style.ts';
import type { AppState } from '../state/state.ts';
import { widthOf } from '../text/fit.ts';
import { clip, EMPTY, type Line, span } from '../text/line.ts';

const EVERYWHERE: readonly KeyHint[] = [
  ['Space  b', 'a page down, a page up; the wheel scrolls'],
  ['p', 'pause the picture; again: continue'],
  ['q', 'quit'],
];

/** Lines for the whole screen. Where there is little room, only the keys. */
export function helpFrame(state: AppState, own: readonly KeyHint[], size: Size): readonly Line[] {
  return frameOf(state, size, (inner) => body([...own, ...EVERYWHERE], inner), [['Esc', 'back']]);
}

function body(hints: readonly KeyHint[], { columns, rows }: Size): readonly Line[] {
  const keys = hints.map(
    ([key, meaning]): Line => ({
      spans: [span('  '), span(key.padEnd(12), 'accent'), ...clip([span(meaning)], Math.max(0, columns - 14))],
    }),
  );
  const marks = linesOfMarks(columns - 2);
  if (rows < keys.length + 3 + marks.length) return keys;
  return [
    { spans: [span('  Keys', 'strong')] },
    EMPTY,
    ...keys,
    EMPTY,
    ...marks.map((line): Line => ({ spans: clip([span(`  ${line}`, 'dim')], columns) })),
  ];
}

/** As many in each as it has room for. */
function linesOfMarks(width: number): readonly string[] {
  const lines: string[] = [];
  for (const mark of MARKS) {
    const longer = [...lines.slice(-1), mark].join('   ');
    if (lines.length > 0 && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(mark);
  }
  return lines;
}
