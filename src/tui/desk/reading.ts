// Reads what a tab shows: when it is opened, after the session has changed, and further back where its user goes.
import { useEffect, useRef } from 'react';
import type { Client } from '../../client/client.ts';
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import type { DeskState, Reading } from '../state/desk-state.ts';
import type { Dispatch } from '../state/state.ts';
import { updateDesk } from './follow-session.ts';
import type { Read, Source } from './tab.ts';
import { tabOf } from './tabs.ts';
import type { View } from './viewport.ts';

/** However much happens, a source is read no more often: each read is on the record. */
const REST_MS = 3000;

/** The last read of a source: of which state of the session it was, and when it ended. */
interface Past {
  readonly stamp: string;
  readonly at: number;
  readonly hasFailed: boolean;
}

interface ReadingParts {
  readonly client: Client;
  readonly screen: DeskState;
  readonly view: View;
  readonly dispatch: Dispatch;
}

/** Looks at each frame, which comes once a second at least, whether anything is to be read. One read of a source at a time. */
export function useReading({ client, screen, view, dispatch }: ReadingParts): void {
  const reads = useRef({ past: new Map<string, Past>(), underWay: new Set<string>() });
  useEffect(() => {
    const { sessionId, readings } = screen;
    const { source } = tabOf(screen.tab);
    const { past, underWay } = reads.current;
    if (source === undefined || underWay.has(source.name)) return;
    const stamp = stampOf(screen, source);
    const read = dueRead(screen, view, { source, stamp, past: past.get(source.name) });
    if (read === undefined) return;
    underWay.add(source.name);
    void attempt(read, client, sessionId, readings[source.name]?.data)
      .then((reading) => {
        past.set(source.name, { stamp, at: performance.now(), hasFailed: reading.failure !== null });
        updateDesk(dispatch, sessionId, ({ readings: before }) => ({
          readings: { ...before, [source.name]: { data: undefined, ...before[source.name], ...reading } },
        }));
      })
      .finally(() => underWay.delete(source.name));
  });
}

/** Changes with the events that change what the source returns, and when the session's stream comes back. */
function stampOf({ log, stream }: DeskState, { changesWith }: Source): string {
  return `${stream.kind === 'lost'} ${log.events.findLast(({ type }) => changesWith(type))?.id ?? 0}`;
}

function dueRead(
  screen: DeskState,
  view: View,
  { source, stamp, past }: { readonly source: Source; readonly stamp: string; readonly past: Past | undefined },
): Read | undefined {
  if (past === undefined) return source.read;
  if (screen.stream.kind === 'deleted') return undefined;
  const isResting = performance.now() - past.at < REST_MS;
  if (past.hasFailed && isResting) return undefined;
  const readNext = tabOf(screen.tab).readNext?.(screen, screen.readings[source.name]?.data, view);
  if (readNext === 'older') return source.readOlder;
  const isStale = past.hasFailed || past.stamp !== stamp;
  return readNext === 'newest' || (readNext !== 'nothing' && isStale && !isResting) ? source.read : undefined;
}

async function attempt(
  read: Read,
  client: Client,
  sessionId: string,
  known: unknown,
): Promise<Partial<Reading> & Pick<Reading, 'failure'>> {
  try {
    return { data: await read(client, sessionId, known), failure: null };
  } catch (error) {
    if (error instanceof ClientError) return { failure: error };
    if (isAborted(error)) return { failure: null };
    throw error;
  }
}
