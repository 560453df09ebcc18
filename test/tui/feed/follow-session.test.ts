import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import type { OfficeEvent, OfficeNews } from '../../../src/client/office-stream.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';
import { append } from '../../../src/tui/feed/event-log.ts';
import { followSession } from '../../../src/tui/feed/follow-session.ts';
import { desk, EMPTY_LOG } from '../../../src/tui/state/desk-state.ts';
import { reduce } from '../../../src/tui/state/reduce.ts';
import { initialState } from '../../../src/tui/state/state.ts';
import { anEvent, AT, sessionId } from '../../support/http/office-server.ts';

const event = (seq: number): OfficeEvent => ({ ...anEvent(1, 'run.step'), id: seq, stream_seq: seq });

/** Follows after the first event while the stream has these; reads fail so many times first. */
async function follow(streamed: readonly number[], failures: number) {
  let state = initialState({ tz: 'UTC', intervalMs: 5000 }, [desk(sessionId(1))], AT);
  let left = failures;
  const reads: number[] = [];
  const office = {
    events: async (_id: string, query: { from_stream_seq?: number }) => {
      reads.push(query.from_stream_seq ?? 0);
      left -= 1;
      if (left >= 0) throw new ClientError({ kind: 'refused', status: 500 }, 'It is not well.');
      const items = [1, 2, 3, 4, 5, 6].filter((seq) => seq >= (query.from_stream_seq ?? 0)).map(event);
      return { session_id: sessionId(1), items, has_more: false, next_after_id: 6, next_before_id: 1 };
    },
    async *followSession(): AsyncGenerator<OfficeNews> {
      for (const seq of streamed) yield { kind: 'event', event: event(seq) };
    },
  };
  await followSession({
    client: { office } as unknown as Client,
    sessionId: sessionId(1),
    log: append(EMPTY_LOG, [event(1)]),
    dispatch: (action) => {
      state = reduce(state, action);
    },
    signal: new AbortController().signal,
  });
  const screen = state.screens[0];
  return { ids: screen?.name === 'desk' ? screen.log.events.map(({ id }) => id) : [], reads };
}

test('a gap right after what was known is filled', async () => {
  expect(await follow([4, 5], 0)).toEqual({ ids: [2, 3, 4, 5], reads: [2] });
});

test('a gap that could not be read is read with the next event', async () => {
  expect(await follow([4, 5, 6], 1)).toEqual({ ids: [2, 3, 4, 5, 6], reads: [2, 2] });
});
