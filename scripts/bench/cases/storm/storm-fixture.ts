// Who takes part in the storm: eight users with the largest of what they may have, a public page, and a tenant who does little; and what they
// ask for.
import { join } from 'node:path';
import type { DaemonProcess } from '../../../../test/support/daemon/daemon-process.ts';
import { openLargeStore } from '../../../../test/support/store/large-store.ts';
import type { FloodClient, FloodPlan, FloodRequest } from '../../servers/flood.ts';
import type { TenantPlan } from '../../servers/small-tenant.ts';

const USERS = 8;
const FILES = 50_000;
const TURNS = 10;
/** Two million characters that JSON escapes, or that take two bytes. */
const LONG_TEXT = '\u0001ö"'.repeat(666_667);
/** A turn just below the limit of 4 MB. */
const TURN_TEXT = `${'They say "so", and go on. '.repeat(150_000)}[[text=Here you are.]]`;
const PAGE_FILES = 5_000;
const BOARD_PAGES = 300;
const ANONYMOUS_CLIENTS = 200;
const ANONYMOUS_ADDRESSES = 8;

const pathOf = (index: number): string => `/src/${index % 50}/part-${index % 500}/file number ${index}.txt`;

/** A user with the largest of what one may have. */
interface LargeUser {
  readonly key: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly historyId: string;
}

/** What the storm consists of, and what the small tenant asks for meanwhile. */
export interface StormFixture {
  readonly tenant: Pick<TenantPlan, 'url' | 'address' | 'requests'>;
  readonly floods: readonly FloodPlan[];
}

/** Fills a daemon's store; the daemon restarts. */
export async function fillStorm(daemon: DaemonProcess): Promise<StormFixture> {
  const keys: string[] = [];
  for (let number = 0; number < USERS; number += 1) keys.push(await keyOf(daemon, `large-${number}`));
  const tenantKey = await keyOf(daemon, 'small');
  await daemon.stop();
  const users = keys.map((key) => fillUser(daemon, key));
  const pageKey = fillBoard(daemon);
  await daemon.restart();
  const port = Number(new URL(daemon.url).port);
  return {
    tenant: { url: daemon.url, address: '127.0.3.1', requests: smallRequests(tenantKey) },
    floods: [
      { port, ...usersFlood(users) },
      { port, ...anonymousFlood(pageKey) },
    ],
  };
}

async function keyOf(daemon: DaemonProcess, username: string): Promise<string> {
  await daemon.admin('POST', '/api/v1/users', { username, role: 'admin' });
  return ((await daemon.admin('POST', '/api/v1/keys', { user: username, scope: 'admin' })) as { key: string }).key;
}

const storeOf = (daemon: DaemonProcess, keyId: string | null) =>
  openLargeStore(join(daemon.dataDir, 'errand.db'), keyId);

function fillUser(daemon: DaemonProcess, key: string): LargeUser {
  const store = storeOf(daemon, key.split('_')[1]!);
  const { sessionId, runId } = store.workspace(FILES, pathOf);
  const { sessionId: historyId } = store.conversation(TURNS, LONG_TEXT);
  store.close();
  return { key, sessionId, runId, historyId };
}

function fillBoard(daemon: DaemonProcess): string {
  const store = storeOf(daemon, null);
  for (let page = 0; page < BOARD_PAGES; page += 1) store.page(1, () => '/site/index.html', 'long '.repeat(400));
  const pageKey = store.page(PAGE_FILES, (index) => `/site/${index % 50}/asset number ${index}.html`);
  store.close();
  return pageKey;
}

type Flood = Omit<FloodPlan, 'port'>;

/** Each user has a client for each kind of request. */
function usersFlood(users: readonly LargeUser[]): Flood {
  const requests = users.flatMap(({ key, sessionId, runId, historyId }): FloodRequest[] => {
    const office = `/api/v1/office-mode/sessions`;
    const get = (kind: string, path: string): FloodRequest => ({ kind, method: 'GET', path, key });
    return [
      get('session artifacts', `/openapi/v1/sessions/${sessionId}/artifacts`),
      get('history', `/openapi/v1/sessions/${historyId}/messages`),
      get('run artifacts', `/openapi/v1/runs/${runId}/artifacts`),
      get('office: files', `${office}/${sessionId}/workspace/files`),
      get('office: messages', `${office}/${historyId}/messages-with-files`),
      get('office: detail', `${office}/${historyId}/detail`),
      get('office: snapshot', '/api/v1/office-mode/snapshot'),
      turnOf('turn of 3.9 MB', key, TURN_TEXT, false),
    ];
  });
  const ofUser = requests.length / users.length;
  const clients = requests.map(
    (_, place): FloodClient => ({ address: `127.0.2.${Math.floor(place / ofUser) + 1}`, requests: [place] }),
  );
  return { requests, clients };
}

/** Each client asks for everything in turn. */
function anonymousFlood(pageKey: string): Flood {
  const publicPage = `/api/v1/public/publishes/${pageKey}`;
  const requests = (
    [
      ['public tree', `${publicPage}/versions/1/files`],
      ['public versions', `${publicPage}/versions`],
      ['board', '/share'],
      ['public list', '/api/v1/public/publishes?limit=200'],
      ['openapi.json', '/openapi.json'],
      ['share page', `/share/p/${pageKey}`],
    ] as const
  ).map(([kind, path]): FloodRequest => ({ kind, method: 'GET', path }));
  const locations = requests.map((_, place) => place);
  const clients = Array.from(
    { length: ANONYMOUS_CLIENTS },
    (_, client): FloodClient => ({
      address: `127.0.1.${(client % ANONYMOUS_ADDRESSES) + 1}`,
      requests: locations.map((place) => (place + client) % locations.length),
    }),
  );
  return { requests, clients };
}

/** Turns, streamed and not, and short lists. */
function smallRequests(key: string): readonly FloodRequest[] {
  return [
    turnOf('small turn, streamed', key, 'Say it. [[deltas=3]]', true),
    { kind: 'small list of sessions', method: 'GET', path: '/openapi/v1/sessions?limit=20', key },
    turnOf('small turn', key, 'Say it. [[text=Here you are.]]', false),
    { kind: 'small list of runs', method: 'GET', path: '/api/v1/runs?limit=20', key },
  ];
}

function turnOf(kind: string, key: string, content: string, stream: boolean): FloodRequest {
  const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] });
  return { kind, method: 'POST', path: '/openapi/v1/chat/completions', key, body };
}
