// A page on its way through the command line, on a real daemon, with a receiver of webhooks that is told of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runErrand } from '../../support/daemon/daemon-process.ts';
import { type HookReceiver, startHookReceiver } from '../../support/http/hook-receiver.ts';
import { type PublishedFixture, startPublishedFixture } from '../../support/publishing/published-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let fixture: PublishedFixture;
let receiver: HookReceiver;
beforeAll(async () => {
  receiver = await startHookReceiver();
  fixture = await startPublishedFixture({
    errandYaml: `egress: { allow: [{ cidr: 127.0.0.1/32, ports: [${receiver.port}], for: [webhook] }] }\n`,
  });
  const types = ['publish_page.published', 'publish_page.failed', 'scheduled_task.run_status_changed'];
  const events = types.flatMap((type) => ['--event', type]);
  await errand('webhooks', 'create', 'site', `${receiver.url}/hook`, '--system', ...events);
});
afterAll(async () => {
  await fixture.daemon.close();
  await receiver.off();
});

async function errand(...args: readonly string[]) {
  const { stdout } = await runErrand([...args, '--data-dir', fixture.daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout);
}

const codeOf = (...args: readonly string[]) =>
  runErrand([...args, '--data-dir', fixture.daemon.dataDir]).then(
    () => 0,
    ({ code }: { code: number }) => code,
  );

const eventsOf = (type: string) =>
  receiver.received.filter(({ eventType }) => eventType === type).map(({ body }) => JSON.parse(body.toString()));

/** The status of a share's content, as anybody reads it. */
const contentOf = async ({ share_code: code }: { readonly share_code: string }) =>
  (await fixture.read(`/api/v1/public/shares/${code}/content`)).status;
const detailOf = async ({ publish_key: key }: { readonly publish_key: string }) =>
  fixture.read(`/api/v1/public/publishes/${key}`);

test('a page is created, shown, released, expired, revoked and deleted, and each version is reported once', {
  tags: ['§6.5-publish_page.published', 'K7-publishes'],
}, async () => {
  const session = await fixture.write(fixture.mara, { '/site/index.html': '<h1>First</h1>', '/site/a.css': 'h1 {}' });
  const page = await errand(
    'publishes',
    'create',
    'Tides',
    '--session',
    session,
    '--entry',
    'site/index.html',
    '--board',
  );
  const first = { share_code: page.latest_share_code };
  expect([await contentOf(first), (await detailOf(page)).status]).toEqual([200, 200]);
  expect(page.page_url).toBe(`${fixture.daemon.url}/share/p/${page.publish_key}`);
  expect(page.latest_share_url).toBe(`${fixture.daemon.url}/share/${first.share_code}`);
  expect(await errand('publishes', 'show', 'Tides')).toEqual(page);
  expect(await errand('publishes', 'show', page.page_url)).toEqual(page);

  await fixture.write(fixture.mara, { '/site/index.html': '<h1>Second</h1>' }, session);
  const second = await errand('publishes', 'release', 'Tides', '--reason', 'Corrected');
  expect(second).toMatchObject({ version_no: 2, is_latest: true, reason: 'Corrected', trigger_type: 'manual' });
  const versions = await errand('publishes', 'versions', page.publish_key);
  expect(versions.items.map((one: { version_no: number }) => one.version_no)).toEqual([2, 1]);
  expect((await errand('shares', 'list', '--page', 'Tides')).total).toBe(2);

  await waitFor(() => eventsOf('publish_page.published').length === 2);
  const [, told] = eventsOf('publish_page.published');
  expect(told).toMatchObject({
    event_type: 'publish_page.published',
    is_test: false,
    user: { username: 'mara' },
    meta: { source: 'publish_center', trigger: 'version_published', idempotency_key: told.event_id },
    publish_page: {
      publish_center_id: page.publish_center_id,
      name: 'Tides',
      publish_key: page.publish_key,
      source_type: 'existing_session',
      category: null,
      public_to_board_enabled: true,
    },
    version: {
      version_no: 2,
      session_id: session,
      entry_path: '/site/index.html',
      share_code: second.share_code,
      published_url: `/share/p/${page.publish_key}`,
      trigger_type: 'manual',
      reason: 'Corrected',
    },
    session: { session_id: session, kind: 'api', project_id: null },
  });
  expect(Date.parse(told.occurred_at)).toBe(Date.parse(second.published_at));

  // An end that has passed before the request arrives is refused: then a later one is tried.
  await waitFor(async () => (await codeOf('shares', 'set', second.share_code, '--expires', '5s')) === 0);
  await waitFor(async () => (await errand('shares', 'show', second.share_url)).share_status === 'expired');
  expect(await contentOf(second)).toBe(404);
  expect(await errand('publishes', 'show', 'Tides')).toMatchObject({ latest_share_code: page.latest_share_code });
  expect(await codeOf('shares', 'set', second.share_code, '--expires', 'never')).toBe(0);
  expect(await contentOf(second)).toBe(200);

  expect(await codeOf('shares', 'revoke', second.share_code, '--yes')).toBe(0);
  expect(await contentOf(second)).toBe(404);
  expect(await codeOf('shares', 'set', second.share_code, '--expires', 'never')).toBe(6);
  expect((await detailOf(page)).data).toMatchObject({ latest_share_code: first.share_code });

  expect(await codeOf('publishes', 'delete', 'Tides', '--yes')).toBe(0);
  expect(await codeOf('publishes', 'show', page.publish_key)).toBe(5);
  expect([await contentOf(first), (await detailOf(page)).status]).toEqual([404, 404]);
  expect(eventsOf('publish_page.published')).toHaveLength(2);
});

test('the page of a task has a version after a firing, and each change of its run is reported', {
  tags: ['F1-source', 'F12'],
}, async () => {
  const task = await errand(
    'schedules',
    'create',
    'daily',
    '--user',
    'mara',
    '--cron',
    '0 0 1 1 *',
    '--prompt',
    'write report.md: # Daily',
  );
  const page = await errand('publishes', 'create', 'Daily', '--schedule', 'daily', '--entry', 'report.md');
  expect(page).toMatchObject({ origin: 'scheduled_task', scheduled_task_id: task.scheduled_task_id, version_count: 0 });
  const before = eventsOf('publish_page.published').length;
  await errand('schedules', 'run', 'daily');
  await waitFor(() => eventsOf('publish_page.published').length === before + 1);
  const told = eventsOf('publish_page.published').at(-1);
  expect(told).toMatchObject({
    publish_page: { source_type: 'scheduled_task', publish_key: page.publish_key },
    version: { version_no: 1, trigger_type: 'auto', entry_path: '/report.md' },
    session: { kind: 'scheduled' },
  });
  const content = await fixture.read(`/api/v1/public/shares/${told.version.share_code}/content`);
  expect(content.text.trim()).toBe('# Daily');
  await waitFor(() => eventsOf('scheduled_task.run_status_changed').length === 3);
  const moves = eventsOf('scheduled_task.run_status_changed').map(({ run }) => [run.previous_status, run.status]);
  expect(moves).toEqual(
    expect.arrayContaining([
      [null, 'pending'],
      ['pending', 'running'],
      ['running', 'completed'],
    ]),
  );
});
