// Reads what a tab shows: when it is opened, after the session has changed, and further back where its user goes.
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import type { DeskState, Reading } from '../state/desk-state.ts';
import type { Dispatch } from '../state/state.ts';
import { updateDesk } from './follow-session.ts';
import type { Reads } from './reads.ts';
import type { Read, Source } from './sources.ts';

/** However much happens, a source is read no more often: each read is on the record. */
const REST_MS = 3000;

/** The last read of a source: of which state of the session it was, and when it ended. */
interface Past {
  readonly stamp: string;
  readonly at: number;
  readonly hasFailed: boolean;
}

/** What is to be read for what is in sight; undefined: the source is read when it has changed. */
export type NextRead = 'older' | 'newest' | 'nothing' | undefined;

/** What a tab shows, and what it wants of it. */
interface Wanted {
  readonly source: Source;
  readonly next: () => NextRead;
}

/** Returns what is to be called at each frame, which comes once a second at least. One read of a source at a time. */
export function makeSessionReader(): (
  client: Reads,
  dispatch: Dispatch,
  screen: DeskState,
  { source, next }: Wanted,
) => void {
  const past = new Map<string, Past>();
  const underWay = new Set<string>();

  return (client, dispatch, screen, { source, next }) => {
    const { sessionId, readings } = screen;
    if (underWay.has(source.name)) return;
    const stamp = stampOf(screen, source);
    // A desk that is opened again knows nothing of what was read before.
    const isKnown = readings[source.name] !== undefined;
    const read = dueRead(screen, next, { source, stamp, past: isKnown ? past.get(source.name) : undefined });
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
  };
}

/** Changes with the events that change what the source returns, and when the session's stream comes back. */
function stampOf({ log, stream }: DeskState, { changesWith }: Source): string {
  return `${stream.kind === 'lost'} ${log.events.findLast(({ type }) => changesWith(type))?.id ?? 0}`;
}

function dueRead(
  { stream }: DeskState,
  next: Wanted['next'],
  { source, stamp, past }: { readonly source: Source; readonly stamp: string; readonly past: Past | undefined },
): Read | undefined {
  if (past === undefined) return source.read;
  if (stream.kind === 'deleted') return undefined;
  const isResting = performance.now() - past.at < REST_MS;
  if (past.hasFailed && isResting) return undefined;
  const wanted = next();
  if (wanted === 'older') return source.readOlder;
  const isStale = past.hasFailed || past.stamp !== stamp;
  return wanted === 'newest' || (wanted !== 'nothing' && isStale && !isResting) ? source.read : undefined;
}

async function attempt(
  read: Read,
  client: Reads,
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
