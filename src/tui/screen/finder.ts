// Lines whose last one is a text to find, as it is typed.
import { TextInput } from '@inkjs/ui';
import { Box, Text, useInput } from 'ink';
import type { Line } from '../text/line.ts';
import type { Theme } from '../theme/theme.ts';
import { h } from './element.ts';
import { Lines } from './lines.ts';

export interface FinderProps {
  readonly lines: readonly Line[];
  readonly theme: Theme;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** Enter keeps what was typed, Esc forgets it. */
export function Finder({ lines, theme, value, onChange, onDone, onCancel }: FinderProps) {
  useInput((_input, key) => {
    if (key.escape) onCancel();
  });
  return h(
    Box,
    { flexDirection: 'column' },
    h(Lines, { lines: lines.slice(0, -1), theme }),
    h(
      Box,
      { height: 1, overflow: 'hidden' },
      h(Text, { bold: true }, ' / '),
      h(TextInput, {
        defaultValue: value,
        onChange: (text) => onChange(text.replace(/\p{Cc}/gu, '')),
        onSubmit: onDone,
      }),
    ),
  );
}
