// A session on the screen: for now what the floor knows of it.
import { Lines } from '../app/lines.ts';
import type { Screen, ScreenProps } from '../app/screen.ts';
import { h } from '../element.ts';
import { runColumns } from '../floor/columns.ts';
import { frameOf, type Size } from '../frame/frame.ts';
import { type AppState, houseShown } from '../state/state.ts';
import { cell, type Line, span } from '../text/line.ts';
import { layOut } from '../text/table.ts';

function Desk({ state, screen, size, theme }: ScreenProps<'desk'>) {
  const lines = frameOf(state, size, (inner) => body(state, screen.sessionId, inner), [['Esc', 'back']]);
  return h(Lines, { lines, theme });
}

function body(state: AppState, sessionId: string, { columns }: Size): readonly Line[] {
  const house = houseShown(state);
  const rows = [...house.rows.values()].filter((row) => row.sessionId === sessionId);
  const { heading, row } = layOut(runColumns(state.now, house.skewMs), columns - 3);
  return [
    { spans: [span('  '), cell(`Session ${sessionId}`, columns - 2, 'strong')] },
    { spans: [] },
    { spans: [span('  '), ...heading.spans] },
    ...rows.map((run) => ({ spans: [span('  '), ...row(run)] })),
  ];
}

export const deskScreen: Screen<'desk'> = {
  Component: Desk,
  press: ({ key, screen }) => (key === 'y' ? { type: 'copy', what: 'session', text: screen.sessionId } : undefined),
  help: [['y', 'copy the id of the session']],
};
