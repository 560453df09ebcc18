// Draws lines: one element each, which is drawn anew only when its text has changed.
import { Box, Text } from 'ink';
import { memo } from 'react';
import type { Line } from '../text/line.ts';
import { paintLine, type Theme } from '../theme/theme.ts';
import { h } from './element.ts';

const Row = memo(({ text }: { readonly text: string }) => h(Text, { wrap: 'truncate-end' }, text));
Row.displayName = 'Row';

/** The lines, one below the other. */
export function Lines({ lines, theme }: { readonly lines: readonly Line[]; readonly theme: Theme }) {
  // An empty text has no height.
  const texts = lines.map((line) => paintLine(line, theme) || ' ');
  return h(
    Box,
    { flexDirection: 'column' },
    texts.map((text, at) => h(Row, { key: at, text })),
  );
}
