import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { type Log, logOf, makeLog } from '../../src/log/log.ts';

/** The lines that `write` makes, as they are written. */
function textsOf(write: (log: Log) => void, level: 'info' | 'warn' = 'info'): string[] {
  const lines: string[] = [];
  const sink = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(line.toString());
      done();
    },
  });
  write(makeLog({ level }, sink));
  return lines;
}

function linesOf(...asked: Parameters<typeof textsOf>): Record<string, unknown>[] {
  return textsOf(...asked).map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('secrets are struck out wherever a line may carry them', () => {
  const secrets = { authorization: 'hush', 'x-api-key': 'hush', password: 'hush', secret: 'hush' };
  const lines = linesOf((log) => log.info({ ...secrets, headers: secrets, request: { headers: secrets } }, 'x'));
  expect(JSON.stringify(lines)).not.toContain('hush');
  expect(JSON.stringify(lines).split('[redacted]')).toHaveLength(13);
});

test('what holds a secret stays as it is, and is logged as what it was', () => {
  const given = {
    list: [{ name: 'a', secret: 'hush' }],
    err: Object.assign(new Error('it broke'), { password: 'hush' }),
  };
  const lines = linesOf((log) => log.info(given));
  expect(JSON.stringify(lines)).not.toContain('hush');
  expect(lines[0]).toMatchObject({
    list: [{ name: 'a', secret: '[redacted]' }],
    err: { type: 'Error', message: 'it broke', stack: expect.stringContaining('log.test.ts') as string },
  });
  expect(given).toMatchObject({ list: [{ secret: 'hush' }], err: { password: 'hush' } });
});

test('a line names its level, its time, and what it is about', () => {
  const [line] = linesOf((log) => logOf(log, { requestId: 'q', runId: 'r', sessionId: 's' }).warn('slow'));
  expect(line).toMatchObject({ level: 'warn', msg: 'slow', request_id: 'q', run_id: 'r', session_id: 's' });
  expect(line!['time']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
});

test('lines below the level are not written', () => {
  expect(linesOf((log) => log.info('quiet'), 'warn')).toEqual([]);
});

test('what could harm a terminal that a line is shown on has escapes, and nothing of it is lost', () => {
  const hostile = 'a\u001b[2J\u009b31m\u007f\u202eb\u2066c';
  const write = (log: Log) => logOf(log, { sessionId: hostile }).info({ said: hostile }, hostile);
  expect(textsOf(write)[0]).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u);
  expect(linesOf(write)).toMatchObject([{ said: hostile, msg: hostile, session_id: hostile }]);
});
