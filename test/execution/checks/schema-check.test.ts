// Schemas are checked outside the main thread, and a bad one does not affect other requests.
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { makeSchemaCheck, type SchemaCheck } from '../../../src/execution/checks/schema-check.ts';
import { makeLog } from '../../../src/log/log.ts';
import { findSchemaFault } from '../../../src/agent/result/result-schema.ts';
import { cpuMsOf } from '../../support/time/cpu-time.ts';

/** Ends what hangs, and nothing that is slow. */
const DEADLINE_MS = 200_000;

function open(clock: Clock = systemClock): SchemaCheck {
  const check = makeSchemaCheck({ clock, log: makeLog({ level: 'fatal' }), deadlineMs: DEADLINE_MS });
  onTestFinished(() => check.stop());
  return check;
}

/** Compiles, but takes its time. */
const heavy = (seed: number): JsonObject => ({
  properties: Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`p${i}`, { type: 'string', minLength: seed }])),
});

test('a schema is good or has a fault with its place', async () => {
  const check = open();
  expect(await check.check({ type: 'string' })).toBeNull();
  expect(await check.check({ items: { type: 'strin' } })).toMatchObject({ pointer: '/items/type' });
  expect(await check.check({ pattern: '(a)\\1' })).toMatchObject({ pointer: '/pattern' });
});

test('a schema that passes its deadline is too complex, and the next one is checked as if nothing had been', async () => {
  const late = [heavy(1), heavy(2)];
  let sent = 0;
  const clock: Clock = {
    ...systemClock,
    // The deadlines of the first and the third schema are over as soon as they begin.
    after: (delayMs, action) => {
      sent += Number(delayMs === DEADLINE_MS);
      return systemClock.after(delayMs === DEADLINE_MS && sent !== 2 ? 0 : delayMs, action);
    },
  };
  const check = open(clock);
  const ends = await Promise.all([late[0]!, { type: 'integer' }, late[1]!].map((schema) => check.check(schema)));
  expect(ends.map((fault) => fault?.mustBe)).toEqual([
    'is too complex to be compiled',
    undefined,
    'is too complex to be compiled',
  ]);
});

test('a schema is compiled beside the main thread', async () => {
  const check = open();
  await check.check({});
  const before = process.threadCpuUsage();
  expect(await check.check(heavy(1))).toBeNull();
  const { user, system } = process.threadCpuUsage(before);
  // By processor time: a busy machine may give this thread no turn until it is compiled.
  expect((user + system) / 1_000).toBeLessThan(cpuMsOf(() => findSchemaFault(heavy(1))) / 2);
});

test('a schema that was checked before is answered at once, also a bad one', async () => {
  const check = open();
  const bad = { type: 'strin' };
  const fault = await check.check(bad);
  const waiting = check.check(heavy(1));
  // The thread is busy, so this answer comes from memory.
  expect(await Promise.race([check.check({ ...bad }), waiting.then(() => 'the other')])).toEqual(fault);
  await waiting;
});

test('too many that wait are refused, and so is everyone once it is stopped', async () => {
  const check = open();
  const waiting = Array.from({ length: 34 }, (_, i) => check.check({ const: i }));
  const ends = await Promise.allSettled(waiting);
  expect(ends.map(({ status }) => status)).toEqual([...Array(33).fill('fulfilled'), 'rejected']);
  const last = check.check(heavy(1));
  const refused = expect(last).rejects.toMatchObject({ reason: 'unavailable' });
  await check.stop();
  await refused;
  await expect(check.check({ const: 'after' })).rejects.toMatchObject({ reason: 'unavailable' });
});
