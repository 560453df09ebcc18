// All that docs/SCHEDULES.md shows works when it is pasted, and its tables say what is so.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cronOfEvery } from '../../../src/cli/nouns/schedules/timing.ts';
import { cronFault, nextFirings } from '../../../src/domain/schedules/firing-times.ts';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { jsonIn, openReader, type Reader } from '../../support/daemon/document-reader.ts';
import { openTriedDocument } from '../../support/files/document-blocks.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DOCUMENT = 'docs/SCHEDULES.md';
const text = readFileSync(join(ROOT, DOCUMENT), 'utf8');
const document = openTriedDocument(ROOT, DOCUMENT);
const ends: (() => void | Promise<void>)[] = [];
let reader: Reader;

const block = (holding: string) => document.block(holding).text;

const firingsOf = async (task: string) =>
  jsonIn(await reader.paste(`bin/errand schedules firings ${task} -o json`))['items'] as readonly {
    readonly status: string;
    readonly session_id: string;
    readonly step_no: number;
  }[];

/** The newest firing of a task, once it has completed. */
const completed = (task: string) =>
  waitFor(async () => {
    const [newest] = await firingsOf(task);
    return newest?.status === 'completed' ? newest : undefined;
  });

/** What is printed of the artifacts of a session, once they are collected: a run is completed before. */
const artifactsOf = (id: string) =>
  waitFor(async () => {
    const printed = await reader.paste(`bin/errand sessions artifacts ${id} -o json`);
    return printed.includes('Export: pending.') ? undefined : printed;
  });

beforeAll(async () => {
  const daemon = await startDaemonProcess();
  ends.push(daemon.close);
  reader = openReader(daemon, { onTestFinished: (end) => ends.push(end) });
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

test('a first task is created, fired, and has written its file', async () => {
  const created = await reader.paste(block('schedules create news'));
  expect(created).toContain('"news" fires at 08:30 every day, in the time of ');
  expect(created).toMatch(/^ {2}[A-Z][a-z]{2} \d{4}-\d\d-\d\d 08:30 /m);
  const printed = await reader.paste(block('schedules run news'));
  expect(printed).toMatch(/\tmanual\t1 of 1\t/);
  const { session_id: id } = await completed('news');
  expect(await artifactsOf(id)).toContain('/news.md');
  expect(await reader.paste(`bin/errand sessions messages ${id}`)).toContain('I wrote');
  const session = jsonIn(await reader.paste(`bin/errand sessions show ${id} -o json`));
  expect(session).toMatchObject({ kind: 'scheduled', title: 'news', username: 'mara' });
});

test('steps are runs of one session, of which the first has the introduction', async () => {
  const shown = await reader.paste(block('schedules create report'));
  expect(shown).toMatch(/steps\t1\. write figures\.csv: .* 2\. write report\.md: /);
  await reader.paste('bin/errand schedules run report');
  const { session_id: id, step_no: steps } = await completed('report');
  expect(steps).toBe(2);
  const files = await artifactsOf(id);
  for (const name of ['/figures.csv', '/report.md']) expect(files).toContain(name);
  const { items } = jsonIn(await reader.paste(`bin/errand runs list --session ${id} -o json`)) as { items: object[] };
  expect(items).toHaveLength(2);
});

test('a task is changed, rests, and works again', async () => {
  const printed = await reader.paste(block('schedules disable news'));
  expect(printed).toContain('"news" is disabled. Enabled, it fires at 07:45 every day, in the time of Europe/Zurich.');
  expect(printed).toContain('"news" fires at 07:45 every day, in the time of Europe/Zurich.');
});

test('the line for curl creates a task with steps', async () => {
  const { data } = jsonIn(await reader.paste(block('"name": "tides"'))) as { data: Record<string, unknown[]> };
  expect(data).toMatchObject({ name: 'tides', overlap: 'queue', owner: { username: 'mara' }, prompt: null });
  expect([data['steps']?.length, data['next_fires_at']?.length]).toEqual([2, 5]);
});

test('every expression of the table fires, as its row says', () => {
  const rows = [...text.matchAll(/^\| `((?:[\d*/,#A-Z-]+ ?){5})` \| (.+) \|$/gm)].map(([, cron, says]) => [cron, says]);
  const from = Date.parse('2026-06-30T00:00:00Z');
  const next = Object.fromEntries(
    rows.map(([cron, says]) => {
      expect([cron, cronFault(cron!, 'UTC', from)]).toEqual([cron, null]);
      const times = nextFirings(cron!, 'UTC', from, 2).map((at) => new Date(at).toISOString().slice(0, 16));
      return [says, times];
    }),
  );
  expect(next).toEqual({
    'at 7:00 from Monday to Friday': ['2026-06-30T07:00', '2026-07-01T07:00'],
    'every ten minutes from 8:00 to 17:50': ['2026-06-30T08:00', '2026-06-30T08:10'],
    'at 9:00 on the first of each month': ['2026-07-01T09:00', '2026-08-01T09:00'],
    'at 9:00 on the last day of each month': ['2026-06-30T09:00', '2026-07-31T09:00'],
    'at 9:00 on the second Monday of each month': ['2026-07-13T09:00', '2026-08-10T09:00'],
    'at 6:30 on January 1 and July 1': ['2026-07-01T06:30', '2027-01-01T06:30'],
  });
  const either = nextFirings('0 9 1 * 1', 'UTC', from, 2).map((at) => new Date(at).toISOString().slice(0, 10));
  expect(either).toEqual(['2026-07-01', '2026-07-06']);
  for (const refused of ['@daily', '0 0 31 2 *', '0 30 8 * * *'])
    expect(cronFault(refused, 'UTC', from)).not.toBeNull();
});

test('clocks that are changed do what the document says', () => {
  const times = (cron: string, zone: string, from: string, count: number) =>
    nextFirings(cron, zone, Date.parse(from), count).map((at) => new Date(at).toISOString());
  const spring = times('30 2 * * *', 'Europe/Zurich', '2026-03-28T12:00:00Z', 2);
  expect(spring).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
  const autumn = times('30 2 * * *', 'Europe/Zurich', '2026-10-24T12:00:00Z', 2);
  expect(autumn).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']);
  const quarter = 900_000;
  const longest = (zone: string) => {
    const at = nextFirings(cronOfEvery('15m'), zone, Date.parse('2026-10-24T22:00:00Z'), 30);
    return Math.max(...at.slice(1).map((one, index) => one - at[index]!));
  };
  expect([longest('Europe/Zurich'), longest('UTC')]).toEqual([quarter, quarter]);
});

test('every block of the document was pasted above', () => {
  expect(document.untried()).toEqual([]);
});
