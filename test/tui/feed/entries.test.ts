import { expect, test } from 'vitest';
import { entriesOf } from '../../../src/tui/feed/entries.ts';
import { anEvent, runId } from '../../support/http/office-server.ts';

const linesOf = (...events: readonly ReturnType<typeof anEvent>[]) =>
  entriesOf(events.map((event, at) => ({ id: at + 1, ...event }))).list.map((entry) =>
    'text' in entry ? entry.text : entry.kind,
  );
const filesFailed = (run: number, message: string) => anEvent(run, 'artifacts.failed', { run_id: runId(run), message });

test('why a run failed is shown once: that it has no files either is no news', () => {
  const failed = anEvent(1, 'run.failed', { error: { type: 'api_error', message: 'No model.' } });
  expect(linesOf(failed, filesFailed(1, 'The run failed: No model.'))).toEqual(['No model.']);
  const stopped = anEvent(2, 'run.stopped', { reason: 'user' });
  expect(linesOf(stopped, filesFailed(2, 'The run was stopped.'))).toEqual(['run stopped: user']);
});

test('an outage of the model is shown with how long it may last, and how it ended', () => {
  const of = { model: 'big', agent: null };
  const started = anEvent(1, 'model_wait.started', { ...of, message: 'It refuses.', patience_ms: 120_000 });
  const replied = anEvent(1, 'model_wait.ended', { ...of, answered: true, waited_ms: 83_000 });
  const ended = anEvent(1, 'model_wait.ended', { ...of, answered: false, waited_ms: 120_000 });
  expect(linesOf(started, replied, started, ended)).toEqual([
    'It refuses. Asks again for up to 2 min.',
    'big replies after 1 min 23 s',
    'It refuses. Asks again for up to 2 min.',
    'big was given up after 2 min',
  ]);
});

test('why the files of a completed run failed is shown, also after another run failed', () => {
  const failed = anEvent(1, 'run.failed', { error: { type: 'api_error', message: 'No model.' } });
  const done = anEvent(2, 'run.done', {});
  expect(linesOf(failed, done, filesFailed(2, 'The disk is full.'))).toEqual([
    'No model.',
    'run completed',
    'The disk is full.',
  ]);
});

test('what is published of a session is shown, and why something is not', () => {
  const page = { publish_center_id: 7, name: 'Tide tables', publish_key: 'Tq3mB81nRZk0wXyd' };
  const version = { version_no: 3, entry_path: '/index.html', share_code: 's', trigger_type: 'auto', reason: null };
  const published = anEvent(1, 'publish_page.published', { publish_page: page, version });
  const refused = anEvent(1, 'publish_page.failed', {
    publish_page: page,
    job: { last_error: 'There is no /index.html.' },
  });
  expect(linesOf(published, refused)).toEqual([
    'published: Tide tables, version 3',
    'not published: Tide tables: There is no /index.html.',
  ]);
});

const delta = (text: string) => anEvent(1, 'content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const stop = anEvent(1, 'content_block_stop', { index: 0 });
const codeOf = (...events: readonly ReturnType<typeof anEvent>[]) =>
  entriesOf(events.map((event, at) => ({ id: at + 9, ...event }))).list.flatMap((entry) =>
    entry.kind === 'text' && entry.isCode ? [entry.text] : [],
  );

test.each([
  ['in its code', [delta('let a;\n``'), delta('`\n\n## After'), stop], ['let a;', '```']],
  ['before its code', [delta('So:\n```ts\nlet a;\n```\nAfter'), stop], ['let a;', '```']],
  ['before code that nothing ends', [delta('So:\n```ts\nlet a;'), stop], ['let a;']],
  ['anywhere, while the text goes on', [delta('let a;\n```\nAfter')], ['After']],
  ['after a text', [stop, delta('So:\n```\nlet a;\n```'), stop], ['let a;', '```']],
])('what a page has that begins in the middle of a text, %s', (_, events, code) => {
  expect(codeOf(...events)).toEqual(code);
});
