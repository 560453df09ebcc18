// Has what a tab shows read, at each frame.
import { useEffect, useRef } from 'react';
import { makeSessionReader } from '../feed/read-session.ts';
import type { Reads } from '../feed/reads.ts';
import { headingSource } from '../feed/sources.ts';
import type { DeskState } from '../state/desk-state.ts';
import { lacksRow } from '../state/desk-row.ts';
import type { AppState, Dispatch } from '../state/state.ts';
import { tabOf } from './tabs.ts';
import type { View } from '../transcript/viewport.ts';

interface ReadingParts {
  readonly client: Reads;
  readonly state: AppState;
  readonly screen: DeskState;
  readonly view: View;
  readonly dispatch: Dispatch;
}

/** Looks at each frame, which comes once a second at least, whether anything is to be read. */
export function useReading({ client, state, screen, view, dispatch }: ReadingParts): void {
  const read = useRef(makeSessionReader());
  useEffect(() => {
    if (lacksRow(state, screen))
      read.current(client, dispatch, screen, { source: headingSource, next: () => undefined });
    const { source, readNext } = tabOf(screen.tab);
    if (source === undefined) return;
    const next = () => readNext?.(screen, screen.readings[source.name]?.data, view);
    read.current(client, dispatch, screen, { source, next });
  });
}
