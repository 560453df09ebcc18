import { chmodSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { NO_ENTRY } from '../../src/domain/people/audit-anchor.ts';
import type { Catalog } from '../../src/catalog/kinds/models.ts';
import { SCHEMA_VERSION } from '../../src/store/engine/schema.ts';
import type { Scan } from '../../src/doctor/scan.ts';
import type { Subject } from '../../src/doctor/subject.ts';
import type { EgressRule } from '../../src/domain/egress.ts';
import { listen } from '../../src/http/server/listen.ts';
import { makeHttpsServer } from '../../src/http/server/server.ts';
import { NO_EXTRAS } from '../../src/domain/capabilities/model.ts';
import { aSubject, examined, WELL } from '../support/doctor/subject.ts';
import { makeCertificate, pemOf } from '../support/http/certificates.ts';
import { SETTINGS } from '../support/http/http-fixture.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import type { KnownNode } from '../../src/domain/nodes/node.ts';
import type { PartReport } from '../../src/operations/status.ts';
import { aKnownNode } from '../support/store/nodes.ts';

const HOUR_MS = 3_600_000;
const NOW = fakeClock().now();

const seeing = (database: object, blobs: object = {}): Partial<Subject> => ({
  scan: async () => ({ ...WELL, database: { ...WELL.database, ...database }, blobs: { ...WELL.blobs, ...blobs } }),
});
const SERVER = {
  maxConnections: 97,
  usedConnections: 20,
  clockAheadMs: -1_200,
  autovacuum: true,
  hasChecksums: true,
  oldestTransaction: null,
  deadRows: [{ table: 'events', dead: 100_000, live: 900_000 }],
};
const onServer = (server: object, replicas: readonly object[] = []): Partial<Subject> =>
  seeing({
    server: { ...SERVER, ...server },
    figures: { ...WELL.database.figures, engine: 'postgres', version: '15.18', replicas },
  });
const ORPHANS: Extract<Scan, { ok: true }>['orphans'] = {
  blobs: 2,
  bytes: 3_145_728,
  workspaces: 1,
  examples: [
    { kind: 'blob', name: 'aa', bytes: 1 },
    { kind: 'blob', name: 'bb', bytes: 1 },
    { kind: 'workspace', name: 'w', bytes: 0 },
  ],
  isWhole: true,
};
const set = (settings: object): Partial<Subject> => ({
  settings: () => ({ ...SETTINGS, disk: { keepFreeMb: 0 }, ...settings }),
});
const anEndpoint = (baseUrl: string): Partial<Subject> => ({
  catalog: () =>
    ({
      endpoints: new Map([
        ['local', { name: 'local', kind: 'openai', baseUrl, apiKey: null, extras: NO_EXTRAS, maxInFlight: null }],
      ]),
      models: new Map([['qwen', { name: 'qwen', endpoint: 'local', model: 'qwen3' }]]),
      scenarios: new Map(),
      defaultScenario: '',
    }) as unknown as Catalog,
});
/** A port that this process has. */
const holder = createServer();
await new Promise<void>((resolve) => void holder.listen(0, '127.0.0.1', resolve));
afterAll(() => void holder.close());
const TAKEN = `127.0.0.1:${(holder.address() as AddressInfo).port}`;
const file = (subject: Subject, name: string) => path.join(subject.locations.dataDir, name);

test.each(['database', 'server_clock', 'connections', 'transactions', 'dead_rows', 'standbys'])(
  'on PostgreSQL where all is well, %s needs nobody',
  async (id) => {
    const standby = { name: 'standby1', state: 'streaming', lagBytes: 1_000 };
    expect(await examined(id, aSubject(onServer({}, [standby])))).toMatchObject({ state: 'ok', remedy: null });
  },
);

test.each([
  'daemon',
  'nodes',
  'listen',
  'certificate',
  'configuration',
  'permissions',
  'master_key',
  'first_credentials',
  'node',
  'disk',
  'inodes',
  'clock',
  'database',
  'wal',
  'free_pages',
  'upgrade_copies',
  'blobs',
  'orphans',
  'runs',
  'webhooks',
  'audit_log',
  'sandbox',
  'public_url',
  'egress',
])('where all is well, %s needs nobody', async (id) => {
  const found = await examined(id, aSubject());
  expect(found).toMatchObject({ state: expect.stringMatching(/^(ok|skipped)$/), remedy: null });
  expect(found.evidence).not.toBe('');
});

/** A daemon that runs, with these nodes. */
const running = (nodes: readonly KnownNode[], parts: readonly PartReport[] = []): Partial<Subject> => ({
  daemon: { state: 'running', parts: () => parts, nodes: () => nodes },
});

interface Fault {
  readonly id: string;
  readonly changes?: Partial<Subject>;
  readonly before?: (subject: Subject) => void;
  readonly state: string;
  readonly evidence: RegExp;
  readonly remedy: RegExp;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'a server whose connections are nearly used up': {
    id: 'connections',
    changes: onServer({ usedConnections: 80 }),
    state: 'warning',
    evidence: /^80 of 97 are used; database_connections is 12$/,
    remedy: /raise max_connections of the server, or lower database_connections/,
  },
  'a clock of the server that is another one': {
    id: 'server_clock',
    changes: onServer({ clockAheadMs: 7_200_000 }),
    state: 'warning',
    evidence: /^it is 7200 s ahead of this machine's: times of the server's log/,
    remedy: /timedatectl set-ntp true, on both machines/,
  },
  'a transaction that lasts': {
    id: 'transactions',
    changes: onServer({ oldestTransaction: { pid: 7, who: 'a report', seconds: 7_200 } }),
    state: 'warning',
    evidence: /^process 7 of the server \(a report\) has one of 120 min/,
    remedy: /SELECT pg_terminate_backend\(7\);/,
  },
  'removed rows that take more space than those that are there': {
    id: 'dead_rows',
    changes: onServer({ autovacuum: false, deadRows: [{ table: 'events', dead: 900_000, live: 100_000 }] }),
    state: 'warning',
    evidence: /^events: 900000 beside 100000; autovacuum is off$/,
    remedy: /VACUUM \(ANALYZE\) events;\n.*ALTER SYSTEM RESET autovacuum/,
  },
  'a standby that is far behind': {
    id: 'standbys',
    changes: onServer({}, [{ name: 'standby1', state: 'catchup', lagBytes: 3_145_728_000 }]),
    state: 'warning',
    evidence: /^standby1, catchup, is 3,000 MB behind$/,
    remedy: /see pg_stat_replication/,
  },
  'a daemon that does not answer': {
    id: 'daemon',
    changes: { daemon: { state: 'silent', why: 'No daemon answers at /x.', isHung: false } },
    state: 'failed',
    evidence: /^No daemon answers at \/x\.$/,
    remedy: /^systemctl start errand/,
  },
  'a daemon that hangs': {
    id: 'daemon',
    changes: { daemon: { state: 'silent', why: 'The daemon gave no answer in time.', isHung: true } },
    state: 'failed',
    evidence: /^The daemon gave no answer in time\.$/,
    remedy: /^systemctl restart errand$/,
  },
  'a port that another process has': {
    id: 'listen',
    changes: set({ listen: TAKEN }),
    state: 'failed',
    evidence: /is taken by another process$/,
    remedy: /^errand config set listen 127\.0\.0\.1:\d+ {2}# or end the other process/,
  },
  'no backups': {
    id: 'backups',
    changes: set({ backup: { directory: '' } }),
    state: 'warning',
    evidence: /^none are scheduled$/,
    remedy: /^errand config set backup\.directory \/var\/backups\/errand && systemctl restart errand$/,
  },
  'a directory of backups that is missing': {
    id: 'backups',
    changes: {
      ...set({ backup: { directory: '/nowhere/x' } }),
      daemon: { state: 'running', parts: () => [], nodes: () => [] },
    },
    state: 'failed',
    evidence: /^\/nowhere\/x can't be written to \(ENOENT\)$/,
    remedy: /^errand config set backup\.directory \/nowhere\/x && systemctl restart errand$/,
  },
  'a certificate that expires': {
    id: 'certificate',
    changes: {
      ...set({ tls: { certFile: '/c', keyFile: '/k' } }),
      daemon: {
        state: 'running',
        parts: () => [{ name: 'tls', state: 'degraded', detail: 'it expires soon' }],
        nodes: () => [],
      },
    },
    state: 'warning',
    evidence: /^it expires soon$/,
    remedy: /^# by hand: renew it with what made it/,
  },
  'a certificate that is gone, beside a stopped daemon': {
    id: 'certificate',
    changes: set({ tls: { certFile: '/nowhere/chain.pem', keyFile: '/nowhere/key.pem' } }),
    state: 'failed',
    evidence: /^tls\.cert_file: \/nowhere\/chain\.pem does not exist$/,
    remedy: /^# by hand: renew it with what made it/,
  },
  'nodes of different versions': {
    id: 'nodes',
    changes: running([aKnownNode(), aKnownNode({ name: 'south', version: '0.9.0', state: 'draining' })]),
    state: 'warning',
    evidence: /^nodes have different versions: north 1\.0\.0, south 0\.9\.0$/,
    remedy: /^# by hand: upgrade the older ones/,
  },
  'a node whose clock differs': {
    id: 'nodes',
    changes: running([aKnownNode({ clockAheadMs: -1_999 }), aKnownNode({ name: 'south', clockAheadMs: -2_000 })]),
    state: 'warning',
    evidence: /^the clock of south is 2\.0 s behind the database's$/,
    remedy: /^# by hand: timedatectl set-ntp true/,
  },
  'a node that is configured otherwise': {
    id: 'nodes',
    changes: running([aKnownNode(), aKnownNode({ name: 'south', differs: ['public_url', 'skills'] })]),
    state: 'warning',
    evidence: /^south has another configuration than other nodes: public_url, skills$/,
    remedy: /^# by hand: compare errand config show/,
  },
  'a node that is online twice': {
    id: 'nodes',
    changes: running([aKnownNode({ isTwice: true }), aKnownNode({ isTwice: true, version: '0', state: 'offline' })]),
    state: 'warning',
    evidence: /^another process has the id of north, 0198c0de-[-\d]+: a copy of its data directory$/,
    remedy: /^# by hand: stop the one with the copy, remove the file node-id/,
  },
  'a node that starts no runs': {
    id: 'nodes',
    changes: running([aKnownNode()], [{ name: 'node', state: 'failed', detail: 'it drains' }]),
    state: 'warning',
    evidence: /^this node: it drains$/,
    remedy: /^# by hand: errand nodes/,
  },
  'a part that is degraded': {
    id: 'daemon',
    changes: {
      daemon: {
        state: 'running',
        parts: () => [{ name: 'files', state: 'degraded', detail: 'it is slow' }],
        nodes: () => [],
      },
    },
    state: 'warning',
    evidence: /^files: it is slow$/,
    remedy: /^# by hand: errand logs /,
  },
  'a broken file': {
    id: 'configuration',
    changes: { problems: () => [{ file: 'errand.yaml', line: 3, column: 1, message: 'is not a setting' }] },
    state: 'failed',
    evidence: /errand\.yaml:3:1/,
    remedy: /^# by hand: correct what is named in .*config; errand config check/,
  },
  'a data directory that others can enter': {
    id: 'permissions',
    before: ({ locations }) => chmodSync(locations.dataDir, 0o755),
    state: 'failed',
    evidence: /has mode 0755$/,
    remedy: /^chmod 700 \//,
  },
  'a key that others can read': {
    id: 'permissions',
    before: (subject) => chmodSync(file(subject, 'master.key'), 0o644),
    state: 'failed',
    evidence: /master\.key has mode 0644$/,
    remedy: /^chmod 600 \/.*master\.key$/,
  },
  'a configuration that others can write': {
    id: 'permissions',
    before: ({ locations }) => chmodSync(locations.configDir, 0o777),
    state: 'failed',
    evidence: /config has mode 0777$/,
    remedy: /^chmod go-w \//,
  },
  'a master key that is missing': {
    id: 'master_key',
    before: (subject) => rmSync(file(subject, 'master.key')),
    state: 'failed',
    evidence: /master\.key is missing: put back the copy that you keep$/,
    remedy:
      /^systemctl stop errand; runuser -u errand -- errand init --new-master-key && systemctl start errand {2}# only if/,
  },
  'a master key that was cut': {
    id: 'master_key',
    before: (subject) => truncateSync(file(subject, 'master.key'), 5),
    state: 'failed',
    evidence: /master\.key has 5 bytes in place of 32/,
    remedy:
      /^systemctl stop errand; mv .*master\.key .*master\.key\.damaged && runuser .* init --new-master-key && systemctl start/,
  },
  'a master key that is not that of the rows': {
    id: 'master_key',
    changes: seeing({ masterKeyId: '0'.repeat(32) }),
    state: 'failed',
    evidence: /master\.key is another key than the one that the database is used with: put back the copy/,
    remedy: /mv .*master\.key .*master\.key\.damaged && runuser .* init --new-master-key/,
  },
  'credentials that were left': {
    id: 'first_credentials',
    before: (subject) => writeFileSync(file(subject, 'first-credentials'), 'x', { mode: 0o600 }),
    state: 'warning',
    evidence: /first-credentials still contains it/,
    remedy: /^rm \/.*first-credentials$/,
  },
  'a disk that is almost full': {
    id: 'disk',
    changes: set({ disk: { keepFreeMb: 1e12 } }),
    state: 'failed',
    evidence: /are to stay free: new turns are refused$/,
    remedy: /^errand config set disk\.keep_free_mb --default$/,
  },
  'a disk that is full within days': {
    id: 'disk',
    changes: {
      diskSamples: async () => [
        { at: NOW - 12 * HOUR_MS, freeBytes: 1e16, freeInodes: null },
        { at: NOW, freeBytes: 1e11, freeInodes: null },
      ],
    },
    state: 'warning',
    evidence: /MB a day go: enough for 0 days$/,
    remedy: /^errand gc$/,
  },
  'the disk of another node that is full within days': {
    id: 'disk',
    changes: {
      ...running([aKnownNode(), aKnownNode({ id: 'other', name: 'south', isThis: false })]),
      diskSamples: async (node) =>
        node === 'other'
          ? [
              { at: NOW - 12 * HOUR_MS, freeBytes: 2e9, freeInodes: null },
              { at: NOW, freeBytes: 1e9, freeInodes: null },
            ]
          : [],
    },
    state: 'warning',
    evidence: /^on south, [\d,]+ MB are free, [\d,]+ MB a day go: enough for 0 days$/,
    remedy: /^errand gc$/,
  },
  'inodes that are gone within days': {
    id: 'inodes',
    changes: {
      diskSamples: async () => [
        { at: NOW - 12 * HOUR_MS, freeBytes: 1, freeInodes: 1e12 },
        { at: NOW, freeBytes: 1, freeInodes: 1e6 },
      ],
    },
    state: 'warning',
    evidence: /a day go: enough for 0 days$/,
    remedy: /^errand gc$/,
  },
  'a clock that was set back': {
    id: 'clock',
    changes: seeing({ newestEventAt: NOW + HOUR_MS }),
    state: 'failed',
    evidence: /the newest event is 3600 s later/,
    remedy: /^timedatectl/,
  },
  'a clock that was never set': {
    id: 'clock',
    changes: { clock: { ...fakeClock(), now: () => 5_000 } },
    state: 'failed',
    evidence: /^it is 1970-01-01T00:00:05\.000Z: the clock was never set$/,
    remedy: /^timedatectl/,
  },
  'a database that is no database': {
    id: 'database',
    changes: { scan: async () => ({ ok: false, why: 'file is not a database' }) },
    state: 'failed',
    evidence: /file is not a database/,
    remedy: /^# by hand: errand backup restore BACKUPS --to \//,
  },
  'a damaged database': {
    id: 'database',
    changes: seeing({ faults: ['row 3 missing from index runs_by_key'] }),
    state: 'failed',
    evidence: /damaged: row 3 missing from index/,
    remedy: /^# by hand: errand backup restore BACKUPS --to \//,
  },
  'the database of a newer version': {
    id: 'database',
    changes: seeing({ schemaVersion: SCHEMA_VERSION + 1, isUsable: false }),
    state: 'failed',
    evidence: /version \d+: this Errand knows versions up to \d+$/,
    remedy: /newer/,
  },
  'a database that is too old': {
    id: 'database',
    changes: seeing({ schemaVersion: 34, isUsable: false }),
    state: 'failed',
    evidence: /version 34: too old for this Errand$/,
    remedy: /last Errand 0\.1/,
  },
  'an emptied audit log': {
    id: 'audit_log',
    changes: seeing({ audit: { fault: 'entries_missing', isAnchorDue: false } }),
    state: 'failed',
    evidence: /^Entry 7, which the log had, is missing: the log was emptied/,
    remedy: /^# by hand: errand audit verify/,
  },
  'an audit log that was emptied once': {
    id: 'audit_log',
    changes: {
      anchor: {
        kind: 'seen',
        anchor: { end: NO_ENTRY, doubt: { fault: 'entries_missing', foundAt: NOW, had: { id: 57, hash: 'a' } } },
        isSealVerified: true,
      },
    },
    state: 'failed',
    evidence: /the daemon found that entry 57, which the log had, is missing/,
    remedy: /^# by hand: errand audit verify/,
  },
  'an audit log without its anchor': {
    id: 'audit_log',
    changes: { anchor: { kind: 'missing' } },
    state: 'failed',
    evidence: /^The file with the anchor of the log is missing/,
    remedy: /^# by hand: errand audit verify/,
  },
  'an anchor of another key': {
    id: 'audit_log',
    changes: { anchor: { kind: 'altered' } },
    state: 'failed',
    evidence: /^The anchor of the log was altered/,
    remedy: /^# by hand: errand audit verify/,
  },
  'a log that can only grow': {
    id: 'wal',
    before: (subject) => {
      writeFileSync(file(subject, 'errand.db-wal'), '');
      truncateSync(file(subject, 'errand.db-wal'), 80 * 1_048_576);
    },
    state: 'warning',
    evidence: /^80 MB/,
    remedy: /^# by hand: fuser -v \/.*errand\.db names/,
  },
  'a database of free pages': {
    id: 'free_pages',
    changes: seeing({ figures: { ...WELL.database.figures, bytes: 409_600_000, freeBytes: 245_760_000 } }),
    state: 'warning',
    evidence: /^234 MB of 391 MB$/,
    remedy: /^errand gc$/,
  },
  'files that no row names, of which one is held': {
    id: 'orphans',
    changes: {
      isHeld: (key: string) => key === 'aa',
      scan: async () => ({ ...WELL, orphans: ORPHANS }),
    },
    state: 'warning',
    evidence: /^1 stored files \(3.0 MB\) and 1 workspaces, such as blobs\/bb\/bb, workspaces\/w$/,
    remedy: /^errand gc$/,
  },
  'a blob that is gone': {
    id: 'blobs',
    changes: seeing({}, { missing: 1, wrong: 2, examples: ['ab12'] }),
    state: 'failed',
    evidence: /1 missing, 2 of the wrong size, such as ab12$/,
    remedy: /errand backup restore/,
  },
  'a run that is stuck': {
    id: 'runs',
    changes: seeing({ stuck: [{ id: 'r1', status: 'running', since: NOW - 2 * HOUR_MS }] }),
    state: 'warning',
    evidence: /^r1 running without an event for 120 min$/,
    remedy: /^errand runs stop r1$/,
  },
  'a webhook that the daemon disabled': {
    id: 'webhooks',
    changes: seeing({ webhooks: [{ id: 7, name: 'chat', failures: 40, disabledReason: 'it failed for 3 days' }] }),
    state: 'warning',
    evidence: /^chat was disabled: it failed for 3 days$/,
    remedy: /^errand webhooks enable 7$/,
  },
  'a machine without a sandbox': {
    id: 'sandbox',
    changes: { sandbox: async () => ({ ok: false, why: 'bubblewrap is not installed.', mend: 'apt-get install x' }) },
    state: 'warning',
    evidence: /^bubblewrap is not installed/,
    remedy: /^apt-get install x && systemctl restart errand$/,
  },
  'a machine where commands run as the daemon’s own user': {
    id: 'sandbox',
    changes: {
      sandbox: async () => ({ ok: true, grant: { bwrap: '/usr/bin/bwrap', groups: null, owner: null } as never }),
    },
    state: 'warning',
    evidence: /of whose epoll watches one command can take all, which ends the daemon$/,
    remedy: /^# by hand: the unit gives commands users of their own/,
  },
  'an endpoint that is not there': {
    id: 'models',
    changes: anEndpoint('http://127.0.0.77:9/v1'),
    state: 'failed',
    evidence: /^local at http:\/\/127\.0\.0\.77:9\/v1 can't be reached \(ECONNREFUSED\)$/,
    remedy: /^# by hand: start its server, .*errand models check qwen tries it$/,
  },
  'no model at all': {
    id: 'models',
    state: 'warning',
    evidence: /offline engine/,
    remedy: /models\.yaml/,
  },
  'a public address that leads nowhere': {
    id: 'public_url',
    changes: {
      ...set({ publicUrl: 'http://127.0.0.77:9' }),
      daemon: { state: 'running', parts: () => [], nodes: () => [] },
    },
    state: 'failed',
    evidence: /can't be reached from here \(ECONNREFUSED\)$/,
    remedy: /^# by hand: errand config set public_url URL/,
  },
  'a rule that opens cloud metadata': {
    id: 'egress',
    changes: {
      ...set({
        egress: {
          allow: [{ cidr: '169.254.0.0/16', host: null, ports: null, for: ['web_fetch'] } satisfies EgressRule],
        },
      }),
      request: { egress: true, full: false },
    },
    state: 'warning',
    evidence: /open: cloud metadata \(web_fetch\)$/,
    remedy: /^errand config set egress\.allow/,
  },
};

test.each(Object.entries(FAULTS))(
  '%s is found, with what mends it',
  async (_, { id, changes, before, ...expected }) => {
    const subject = aSubject(changes);
    before?.(subject);
    const found = await examined(id, subject);
    expect(found).toMatchObject({
      state: expected.state,
      evidence: expect.stringMatching(expected.evidence),
      remedy: expect.stringMatching(expected.remedy),
    });
  },
);

test.each([
  [502, 'failed', /could not be reached by the gateway in front of it \(502\)$/],
  [503, 'failed', /is overloaded \(503\)$/],
  [401, 'failed', /refuses the key \(401\)$/],
  // Not all have such a list.
  [404, 'ok', /^local answer$/],
])('an endpoint that answers %i is %s', async (status, state, evidence) => {
  const server = createServer((_req, res) => void res.writeHead(status).end('<html>'));
  const { address, close } = await listen(server, { kind: 'tcp', host: '127.0.0.1', port: 0 });
  onTestFinished(close);
  const found = await examined('models', aSubject(anEndpoint(`http://${address}/v1`)));
  expect(found).toMatchObject({ state, evidence: expect.stringMatching(evidence) });
});

test.each([
  ['certificate', set({ tls: { certFile: '/c', keyFile: 'credential:key' } })],
  ['models', anEndpoint('http://127.0.0.77:9/v1')],
])('what only the service can read is left out of %s', async (id, changes) => {
  const found = await examined(id, aSubject({ ...changes, unresolved: new Set(['credential:key']) }));
  expect(found).toMatchObject({ state: 'skipped', evidence: 'only the service can read credential:key' });
});

test('private networks that a rule opens are shown, and are no fault', async () => {
  const rule: EgressRule = { cidr: '10.0.0.0/8', host: null, ports: [8080], for: ['mcp', 'webhook'] };
  const found = await examined(
    'egress',
    aSubject({ ...set({ egress: { allow: [rule] } }), request: { egress: true, full: false } }),
  );
  expect(found.state).toBe('ok');
  expect(found.evidence).toContain('10.0.0.0/8 on 8080 for mcp, webhook');
  expect(found.evidence).toContain('open: private networks (mcp, webhook)');
});

test('a disk without enough measurements has no rate yet', async () => {
  const sample = { at: NOW, freeBytes: 1e12, freeInodes: null };
  const found = await examined('disk', aSubject({ diskSamples: async () => [sample] }));
  expect(found).toMatchObject({ state: 'ok', evidence: expect.stringContaining('the rate is known after some hours') });
});

test('a public address with a certificate of an issuer of its own is not refused', async () => {
  const { cert, key } = makeCertificate('localhost');
  const pair = { cert, key: pemOf(key) };
  const server = makeHttpsServer((_req, res) => void res.end('{"status":"ok"}'), pair);
  const { address, close } = await listen(server, { kind: 'tcp', host: '127.0.0.1', port: 0 });
  onTestFinished(close);
  const publicUrl = `https://localhost:${address.split(':')[1]}`;
  const runs = { state: 'running', parts: () => [], nodes: () => [] } as const;
  const found = await examined('public_url', aSubject({ ...set({ publicUrl }), daemon: runs }));
  expect(found).toMatchObject({
    state: 'warning',
    remedy: expect.stringMatching(/^# by hand: curl --cacert FILE https:/),
  });
  expect(found.evidence).toMatch(/issuer this machine does not trust/);
});

test('copies of the database from before upgrades are named, with their end', async () => {
  const retention = { ...SETTINGS.retention, upgradeCopiesDays: 30 };
  const subject = aSubject(set({ retention }));
  writeFileSync(file(subject, 'errand.db.v28.backup'), 'rows');
  utimesSync(file(subject, 'errand.db.v28.backup'), 0, 86_400);
  const found = await examined('upgrade_copies', subject);
  expect(found).toMatchObject({
    state: 'ok',
    evidence: 'errand.db.v28.backup, 0.0 MB, kept until 1970-02-01T00:00:00.000Z',
  });
});
