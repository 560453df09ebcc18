// The list of keys, over whatever screen it was asked on.
import { frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import type { AppState } from '../state/state.ts';
import { clip, EMPTY, type Line, span } from '../text/line.ts';

const EVERYWHERE: readonly KeyHint[] = [
  ['Space  b', 'a page down, a page up; the wheel scrolls'],
  ['p', 'pause the picture; again: continue'],
  ['q', 'quit'],
];

const STATES = '● running   ? waits for its user   ○ pending   ✓ completed   ✗ failed   - stopped';

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
  if (rows < keys.length + 4) return keys;
  return [
    { spans: [span('  Keys', 'strong')] },
    EMPTY,
    ...keys,
    EMPTY,
    { spans: clip([span(`  ${STATES}`, 'dim')], columns) },
  ];
}
