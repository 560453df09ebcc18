// What systemd is told of the daemon: ready, alive while the writer answers, reloading, stopping.
import { expect, test, vi } from 'vitest';
import type { ServiceEnvironment } from '../../src/service-manager/environment.ts';
import { makeServiceManager } from '../../src/service-manager/service-manager.ts';
import { notifyProgram } from '../support/notify-program.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

type Given = Partial<Pick<ServiceEnvironment, 'watchdogMs' | 'notifySocket'>>;

function open({ watchdogMs = 30_000, notifySocket = '/n' }: Given = {}) {
  const clock = fakeClock();
  const { searchPath, messages, fail } = notifyProgram();
  const failed = vi.fn<(error: unknown) => void>();
  const service = { notifySocket, searchPath, watchdogMs, sockets: [], journalStream: null };
  const manager = makeServiceManager({ service, clock, failed });
  let status = 'well';
  let answer = (): Promise<unknown> => Promise.resolve();
  const health = { status: () => status, answered: () => answer() };
  return {
    clock,
    manager,
    health,
    messages,
    fail,
    failed,
    setStatus: (text: string) => void (status = text),
    setAnswer: (next: () => Promise<unknown>) => void (answer = next),
    heard: (count: number) => waitFor(() => messages().length >= count),
  };
}

test('ready comes with the status, and both are repeated as signs of life three times within the limit', async () => {
  const { clock, manager, health, messages, setStatus, heard } = open();
  await manager.ready(health);
  expect(messages()).toEqual(['/n|READY=1|WATCHDOG=1|STATUS=well']);
  setStatus('two\nlines');
  clock.advance(9_999);
  expect(messages()).toHaveLength(1);
  clock.advance(1);
  await heard(2);
  expect(messages()[1]).toBe('/n|READY=1|WATCHDOG=1|STATUS=two lines');
});

test('while the writer does not answer, there is no sign of life; a refusal is an answer', async () => {
  const { clock, manager, health, messages, setAnswer, heard } = open();
  await manager.ready(health);
  const answer = Promise.withResolvers<void>();
  const asked = vi.fn<() => Promise<void>>(() => answer.promise);
  setAnswer(asked);
  clock.advance(10_000);
  expect(asked).toHaveBeenCalledOnce();
  clock.advance(60_000);
  expect(messages()).toHaveLength(1);
  answer.reject(new Error('The disk is full.'));
  await heard(2);
});

test('a sign of life that cannot be sent is sent again after a second, and reported once', async () => {
  const { clock, manager, health, messages, fail, failed, heard } = open();
  fail(true);
  await manager.ready(health);
  clock.advance(1_000);
  await waitFor(() => failed.mock.calls.length === 1);
  fail(false);
  await waitFor(() => {
    clock.advance(1_000);
    return messages().length > 0;
  });
  await heard(1);
  expect(failed).toHaveBeenCalledOnce();
});

test('a unit without a watchdog has the status renewed', async () => {
  const { clock, manager, health, messages, heard } = open({ watchdogMs: null });
  await manager.ready(health);
  clock.advance(30_000);
  await heard(2);
  expect(messages()).toEqual(['/n|READY=1|STATUS=well', '/n|READY=1|STATUS=well']);
});

test('a reload is reported with its time before, and as over with the new status after', async () => {
  const { manager, health, messages, setStatus, heard } = open();
  await manager.ready(health);
  manager.reloading(() => setStatus('reloaded'));
  await heard(3);
  expect(messages()[1]).toMatch(/^\/n\|RELOADING=1\|MONOTONIC_USEC=\d+$/);
  expect(messages()[2]).toBe('/n|READY=1|STATUS=reloaded');
});

test('a reload that throws is over too', async () => {
  const { manager, health, messages, heard } = open();
  await manager.ready(health);
  const broken = () => {
    throw new Error('gone');
  };
  expect(() => manager.reloading(broken)).toThrow('gone');
  await heard(3);
  expect(messages()[2]).toBe('/n|READY=1|STATUS=well');
});

test('a stop asks for the time that it takes; afterwards nothing says that the daemon is ready', async () => {
  const { clock, manager, health, messages, heard } = open();
  await manager.ready(health);
  manager.stopping('Stopping', 90_000);
  clock.advance(10_000);
  manager.reloading(() => undefined);
  await heard(3);
  expect(messages().slice(1)).toEqual([
    '/n|STOPPING=1|STATUS=Stopping|EXTEND_TIMEOUT_USEC=90000000',
    '/n|STOPPING=1|WATCHDOG=1',
  ]);
});

test('a migration is reported before it begins, because it blocks the loop', () => {
  const { manager, messages } = open();
  manager.migrating('Migrating', 1_000);
  expect(messages()).toEqual(['/n|STATUS=Migrating|EXTEND_TIMEOUT_USEC=1000000']);
});

test('without a service manager nothing is sent, and a reload is still done', async () => {
  const { manager, health, messages } = open({ notifySocket: null });
  await manager.ready(health);
  const work = vi.fn<() => void>();
  manager.reloading(work);
  manager.migrating('Migrating', 1_000);
  manager.stopping('Stopping', 1);
  expect(work).toHaveBeenCalledOnce();
  expect(messages()).toEqual([]);
});

test('the end waits for what was reported before, so that a short drain is reported as well', async () => {
  const { manager, health, messages } = open();
  await manager.ready(health);
  manager.reloading(() => undefined);
  manager.stopping('Stopping', 90_000);
  await manager.end();
  expect(messages()).toHaveLength(4);
  expect(messages()[3]).toBe('/n|STOPPING=1|STATUS=Stopping|EXTEND_TIMEOUT_USEC=90000000');
});

test('after the end there are no more signs of life', async () => {
  const { clock, manager, health, messages } = open();
  await manager.ready(health);
  await manager.end();
  clock.advance(60_000);
  expect(messages()).toHaveLength(1);
});
