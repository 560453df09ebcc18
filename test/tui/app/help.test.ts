import { expect, test } from 'vitest';
import { helpFrame } from '../../../src/tui/app/help.ts';
import { SCREENS } from '../../../src/tui/app/screen-table.ts';
import { floor } from '../../../src/tui/state/screens.ts';
import { initialState } from '../../../src/tui/state/state.ts';
import { textOf } from '../../../src/tui/text/line.ts';
import { AT } from '../../support/http/office-server.ts';

const STATE = initialState({ tz: 'UTC', intervalMs: 5000 }, [floor()], AT);

test.each(['floor', 'today'] as const)(
  'the help of the %s has room for all its keys on the smallest terminal',
  (name) => {
    const { help } = SCREENS[name];
    const text = textOf(helpFrame(STATE, help, { columns: 60, rows: 15 }));
    for (const [key] of [...help, ['q', 'quit']]) expect(text).toContain(`  ${key} `);
  },
);

test.each([60, 100])('with room, the help also says what each glyph means, on %d columns', (columns) => {
  const text = textOf(helpFrame(STATE, SCREENS.floor.help, { columns, rows: 30 }));
  const marks = ['● running', '? waits for its user', '! stalled', '○ pending', '✓ completed', '✗ failed', '- stopped'];
  for (const mark of marks) expect(text).toContain(mark);
});
