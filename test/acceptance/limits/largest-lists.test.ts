// The longest pages of lists, with the longest texts, to a crowd: a daemon with a small heap stays alive, and no turn of its loop is long.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { download } from '../../support/daemon/download.ts';
import { watchLoop } from '../../support/daemon/loop-watch.ts';
import { makeLargeLists } from '../../support/store/large-lists.ts';
import { openLargeStore } from '../../support/store/large-store.ts';

const LONGEST_TURN_MS = 50;
const PEOPLE = 50_000;
const SPANS = 5_000;

const loop = watchLoop({ heapMb: 256 });
let daemon: DaemonProcess;
let made: Readonly<
  Record<
    'webhooks' | 'tasks' | 'pages' | 'questions' | 'timeline' | 'steps' | 'results',
    Readonly<Record<string, string | number>>
  >
>;

beforeAll(async () => {
  daemon = await startDaemonProcess({ env: loop.env });
  await daemon.stop();
  const store = openLargeStore(join(daemon.dataDir, 'errand.db'));
  const lists = makeLargeLists(store.adding);
  store.people(PEOPLE);
  lists.audit();
  made = {
    webhooks: lists.webhooks(),
    tasks: lists.tasks(),
    pages: lists.pages(),
    questions: lists.questions(),
    timeline: lists.timeline(SPANS),
    steps: store.longRun(60, 'Much of it. \u0001ö'.repeat(5_000)),
    results: lists.results(40, 'ö"\u0001'.repeat(700_000)),
  };
  store.close();
  await daemon.restart();
});

afterAll(async () => {
  await daemon?.close();
  loop.close();
});

test.each<[string, number, () => string]>([
  ['webhooks', 24, () => '/api/v1/webhooks?limit=500'],
  ['deliveries', 6, () => '/api/v1/webhook-deliveries?limit=500'],
  ['deliveries of a webhook', 6, () => `/api/v1/webhooks/${made.webhooks['webhookId']}/deliveries?limit=500`],
  ['scheduled tasks', 3, () => '/api/v1/scheduled-tasks?limit=500'],
  ['firings', 96, () => `/api/v1/scheduled-tasks/${made.tasks['taskId']}/firings?limit=500`],
  ['pages', 8, () => '/api/v1/publishes?limit=500'],
  ['versions of a page', 24, () => `/api/v1/publishes/${made.pages['pageKey']}/versions?limit=500`],
  ['shares', 24, () => '/api/v1/shares?limit=500'],
  ['insights', 12, () => '/api/v1/insights?limit=500'],
  ['questions', 3, () => '/api/v1/user-inputs?limit=500'],
  ['questions of a session', 3, () => `/openapi/v1/sessions/${made.questions['sessionId']}/user-inputs?limit=500`],
  ['the audit log', 48, () => '/api/v1/audit?limit=500'],
  ['runs', 96, () => '/api/v1/runs?limit=500'],
  ['the time line of a run', 12, () => `/api/v1/runs/${made.timeline['runId']}/timeline`],
  [
    'events of a session in Office Mode',
    12,
    () => `/api/v1/office-mode/sessions/${made.timeline['sessionId']}/stream-events?limit=500`,
  ],
  [
    'long results of a session in Office Mode',
    4,
    () => `/api/v1/office-mode/sessions/${made.results['sessionId']}/stream-events?limit=500`,
  ],
  ['the export of a run', 3, () => `/api/v1/runs/${made.steps['runId']}/export`],
  ['users', 3, () => '/api/v1/users'],
  ['keys', 2, () => '/api/v1/keys'],
])('%s', async (_, crowd, pathFor) => {
  const path = pathFor();
  const use = await loop.leastOf(daemon, { enoughMs: LONGEST_TURN_MS }, async () => {
    const replies = await Promise.all(Array.from({ length: crowd }, async () => download(daemon, path)));
    expect(replies).toEqual(replies.map(() => ({ status: 200, isWhole: true })));
  });
  expect(use.longestMs).toBeLessThan(LONGEST_TURN_MS);
});
