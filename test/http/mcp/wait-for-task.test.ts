import { expect, test, vi } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import { makeHalt } from '../../../src/domain/halt.ts';
import type { JournalEvent, NewEvent } from '../../../src/domain/sessions/journal-event.ts';
import type { Run } from '../../../src/domain/sessions/run.ts';
import type { TailListener } from '../../../src/events/tail.ts';
import type { Exchange } from '../../../src/http/frame/exchange.ts';
import type { ToolCall } from '../../../src/http/mcp/call.ts';
import { makeWaitForTask } from '../../../src/http/mcp/wait-for-task.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

const RUN = { seq: 7 } as Run;

/** A wait in progress, with the hands that move all that it looks at. */
function beginWait({ ms = 60_000, reports = true } = {}) {
  const clock = fakeClock();
  const draining = new AbortController();
  const left = makeHalt();
  const reported: string[] = [];
  const open = new Set<'tail' | 'credential'>();
  let listener: TailListener | undefined;
  let refuse: ((error: ErrandError) => void) | undefined;
  const wait = makeWaitForTask({
    clock,
    draining: draining.signal,
    tail: {
      follow: (_run, _afterId, given) => {
        listener = given;
        open.add('tail');
        return { close: () => void open.delete('tail') };
      },
      await: () => expect.fail('The events are needed.'),
    },
    watchCredential: (_admit, refused) => {
      refuse = refused;
      open.add('credential');
      return () => void open.delete('credential');
    },
  });
  const call: ToolCall = {
    caller: {} as ToolCall['caller'],
    exchange: { admit: async () => undefined } as unknown as Exchange,
    left,
    isCancelled: () => false,
    report: reports ? (words) => void reported.push(words) : null,
  };
  const ended = wait(call, { run: RUN, newestId: 0 }, ms);
  const tell = (event: NewEvent) => void listener!.events([event as JournalEvent]);
  return { clock, draining, left, reported, open, ended, tell, end: () => listener!.end(), refuse: refuse! };
}

const REVOKED = new ErrandError('unauthenticated', 'The API key was revoked.');
const QUESTION: NewEvent = {
  type: 'user_input.requested',
  payload: { requestId: 'r', toolUseId: 't', toolName: 'ask_user', expiresAt: 0 },
};

test.each<[string, (wait: ReturnType<typeof beginWait>) => void]>([
  ['its end', ({ end }) => end()],
  ['a question', ({ tell }) => tell(QUESTION)],
  ['the time that was given', ({ clock }) => clock.advance(60_000)],
  ['its client, who leaves', ({ left }) => left.halt()],
  ['the daemon, which drains', ({ draining }) => draining.abort()],
])('a wait ends with %s, and lets go of everything', async (_what, happen) => {
  const wait = beginWait();
  const over = vi.fn();
  void wait.ended.then(over);
  wait.clock.advance(59_999);
  await Promise.resolve();
  expect([over.mock.calls.length, [...wait.open]]).toEqual([0, ['tail', 'credential']]);
  happen(wait);
  await wait.ended;
  expect([...wait.open]).toEqual([]);
  const told = wait.reported.length;
  wait.clock.advance(100_000);
  expect(wait.reported.length).toBe(told);
});

test('a credential that is no longer valid ends it with the refusal', async () => {
  const wait = beginWait();
  wait.refuse(REVOKED);
  await expect(wait.ended).rejects.toBe(REVOKED);
  expect([...wait.open]).toEqual([]);
});

test('what is done is told at most each second, and again after ten seconds of silence', async () => {
  const { clock, reported, tell, end, ended } = beginWait();
  tell({ type: 'run.started', payload: { attempt: 1, model: 'qwen' } });
  const calls = ['/a', '/b'].map(
    (path): NewEvent => ({
      type: 'tool_use',
      payload: { step: 1, toolUseId: path, name: 'read_file', input: { path } },
    }),
  );
  for (const event of calls) tell(event);
  clock.advance(1_000);
  expect(reported).toEqual(['reads b']);
  clock.advance(9_000);
  expect(reported).toEqual(['reads b']);
  clock.advance(1_000);
  expect(reported).toEqual(['reads b', 'reads b']);
  end();
  await ended;
});

test('who has not asked is told nothing', async () => {
  const { clock, reported, tell, end, ended } = beginWait({ reports: false });
  tell({ type: 'run.started', payload: { attempt: 1, model: 'qwen' } });
  clock.advance(30_000);
  end();
  await ended;
  expect(reported).toEqual([]);
});
