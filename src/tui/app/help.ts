// The list of keys, over whatever screen it was asked on.
import { exactly, frameOf, type KeyHint, type Size } from '../frame/frame.ts';
import type { AppState } from '../state/state.ts';
import { cell, clip, EMPTY, type Line, span } from '../text/line.ts';

const EVERYWHERE: readonly KeyHint[] = [
  ['p', 'pause the picture, and go on'],
  ['Space  b', 'a page down, a page up; the mouse wheel scrolls'],
  ['?', 'this help'],
  ['q', 'quit'],
];

const STATES = '● running   ? waits for its user   ○ pending   ✓ completed   ✗ failed   - stopped';

/** Lines for the whole screen. */
export function helpFrame(state: AppState, own: readonly KeyHint[], size: Size): readonly Line[] {
  return frameOf(
    state,
    size,
    ({ columns, rows }) =>
      exactly(
        [
          { spans: [span('  '), cell('Keys', columns - 2, 'strong')] },
          ...(rows > own.length + EVERYWHERE.length + 6 ? [EMPTY] : []),
          ...[...own, ...EVERYWHERE].map(
            ([key, meaning]): Line => ({
              spans: [span('  '), span(key.padEnd(12), 'accent'), ...clip([span(meaning)], Math.max(0, columns - 14))],
            }),
          ),
          EMPTY,
          { spans: clip([span(`  ${STATES}`, 'dim')], columns) },
        ],
        rows,
      ),
    [['Esc', 'back']],
  );
}
