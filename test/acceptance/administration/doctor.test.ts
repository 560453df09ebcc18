// `errand doctor` on a real installation that is broken in ten ways: it finds each, and what it prints mends it.
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, closeSync, existsSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import Connection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import type { DiagnosisWire, ExaminationWire, ExaminationRequestWire } from '../../../src/wire/doctor.ts';

const BINARY = path.resolve('bin/errand');
const isRoot = process.getuid?.() === 0;
const SOMEBODY = 4_711;

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

interface Examined extends ExaminationWire {
  readonly code: number;
}

async function doctor(...args: readonly string[]): Promise<Examined> {
  const all = ['doctor', '--data-dir', daemon.dataDir, '-o', 'json', ...args];
  const { stdout, code } = await runErrand(all).then(
    ({ stdout: text }) => ({ stdout: text, code: 0 }),
    (error: { stdout: string; code: number }) => error,
  );
  return { ...(JSON.parse(stdout) as ExaminationWire), code };
}

/** One of the checks that the daemon makes of itself. */
async function check(id: string, request: ExaminationRequestWire = {}): Promise<DiagnosisWire> {
  const found = (await daemon.admin('POST', '/api/v1/doctor', request)) as ExaminationWire;
  return found.checks.find((one) => one.id === id)!;
}

/** Runs the first command of a remedy as its reader would. */
async function follow({ remedy }: DiagnosisWire): Promise<void> {
  const [command = ''] = remedy!.split('\n');
  await promisify(execFile)('sh', [
    '-c',
    command.replaceAll(/\berrand (?=[a-z])/g, `${BINARY} --data-dir ${daemon.dataDir} `),
  ]);
}

const place = (name = '') => path.join(daemon.dataDir, name);

function change(sql: string, ...values: (string | number)[]): void {
  const connection = new Connection(place('errand.db'), { timeout: 10_000 });
  connection.prepare(sql).run(...values);
  connection.close();
}

interface Fault {
  readonly id: string;
  readonly request?: ExaminationRequestWire;
  readonly breaks: () => unknown;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'a data directory that others can enter': { id: 'permissions', breaks: () => chmodSync(place(), 0o755) },
  'a database that others can read': { id: 'permissions', breaks: () => chmodSync(place('errand.db'), 0o644) },
  'a master key that others can read': { id: 'permissions', breaks: () => chmodSync(place('master.key'), 0o640) },
  'a configuration that others can write': { id: 'permissions', breaks: () => chmodSync(daemon.configDir, 0o777) },
  'credentials that were left where the start put them': {
    id: 'first_credentials',
    breaks: () => writeFileSync(place('first-credentials'), 'Password  x\n', { mode: 0o600 }),
  },
  'a public address that leads nowhere': {
    id: 'public_url',
    breaks: () => runErrand(['config', 'set', 'public_url', 'http://127.0.0.77:9', '--data-dir', daemon.dataDir]),
  },
  'a rule that opens the metadata of the cloud': {
    id: 'egress',
    request: { egress: true },
    breaks: () =>
      runErrand(['config', 'set', 'egress.allow', '[{"cidr":"169.254.169.254/32"}]', '--data-dir', daemon.dataDir]),
  },
  'a webhook that was disabled because it failed': {
    id: 'webhooks',
    breaks: async () => {
      const hook = { name: 'chat', url: 'https://hooks.example.com/x', events: ['session.completed'] };
      await daemon.admin('POST', '/api/v1/webhooks', hook);
      change("UPDATE webhooks SET enabled = 0, disabled_reason = 'it failed for 3 days' WHERE name = 'chat'");
    },
  },
  'a run that makes no progress': {
    id: 'runs',
    breaks: async () => {
      const message = {
        model: 'errand',
        background: true,
        idempotency_key: 'stuck',
        messages: [{ role: 'user', content: '[[hang=before-headers]]' }],
      };
      const sent = await fetch(`${daemon.url}/openapi/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': daemon.apiKey },
        body: JSON.stringify(message),
      });
      expect([sent.status, await sent.text()]).toEqual([202, expect.any(String)]);
      const isRunning = () => rowsOf(daemon, "SELECT 1 FROM runs WHERE status = 'running'").length === 1;
      await waitFor(isRunning);
      const earlier = Date.now() - 7_200_000;
      change('UPDATE events SET created_at = ? WHERE run_seq = (SELECT max(seq) FROM runs)', earlier);
    },
  },
};

const AS_ROOT: Readonly<Record<string, Fault>> = {
  'a key that belongs to somebody else': {
    id: 'permissions',
    breaks: () => chownSync(place('master.key'), SOMEBODY, SOMEBODY),
  },
};

describe('a running daemon', () => {
  test('needs nobody when all is well but its sandbox and its backups', async () => {
    const found = await doctor('--egress');
    const bad = found.checks.filter(({ state }) => state === 'failed').map(({ id, evidence }) => `${id}: ${evidence}`);
    expect(bad).toEqual([]);
    expect(found).toMatchObject({ ok: true, code: 0 });
    expect(found.checks.map(({ number }) => number)).toEqual(found.checks.map((_, index) => index + 1));
  });

  test.each(Object.entries({ ...FAULTS, ...(isRoot ? AS_ROOT : {}) }))(
    'has %s: the doctor finds it, and the printed command mends it',
    async (_, { id, request, breaks }) => {
      await breaks();
      await waitFor(async () => ['failed', 'warning'].includes((await check(id, request)).state));
      const found = await check(id, request);
      expect(found.remedy).not.toBeNull();
      await follow(found);
      await waitFor(async () => (await check(id, request)).state === 'ok');
    },
  );

  test('a failed check ends the command with 8, and people read what mends it', async () => {
    chmodSync(place('errand.db'), 0o644);
    const ended = (await runErrand(['doctor', '--data-dir', daemon.dataDir]).catch((error: unknown) => error)) as {
      readonly code: number;
      readonly stdout: string;
      readonly stderr: string;
    };
    expect(ended.code).toBe(8);
    expect(ended.stdout).toMatch(/^\d+\tpermissions\tfailed\t.*mode 0644\tchmod 600 .*errand\.db$/m);
    expect(ended.stderr).toContain('Not as it should be: permissions.');
    chmodSync(place('errand.db'), 0o600);
  });

  test('refuses to be examined by its files', async () => {
    const ended = runErrand(['doctor', '--offline', '--data-dir', daemon.dataDir]);
    await expect(ended).rejects.toMatchObject({
      code: 6,
      stderr: expect.stringContaining('is in use by another Errand'),
    });
  });
});

describe('beside a stopped daemon', () => {
  beforeAll(async () => {
    await daemon.stop();
  });

  test('the files are examined, and nothing is left behind', async () => {
    const found = await doctor('--offline', '--full');
    expect(found).toMatchObject({ ok: true, code: 0 });
    expect(existsSync(place('errand.pid'))).toBe(false);
  });

  test('it is the first finding that no daemon answers, unless --offline says so', async () => {
    const found = await doctor();
    expect(found.code).toBe(8);
    expect(found.checks[0]).toMatchObject({ number: 1, id: 'daemon', state: 'failed' });
  });

  test('a broken configuration is found, and everything else is examined', async () => {
    const file = path.join(daemon.configDir, 'errand.yaml');
    writeFileSync(file, 'modle: { max_steps: 3 }\n');
    const found = await doctor('--offline');
    expect(found.checks.filter(({ state }) => state === 'failed')).toEqual([
      expect.objectContaining({ id: 'configuration', evidence: expect.stringContaining('errand.yaml:1:1') }),
    ]);
    writeFileSync(file, '');
  });

  test('a database that was overwritten is found', async () => {
    const file = place('errand.db');
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, Buffer.alloc(8_192, 0x5a), 0, 8_192, Math.floor(statSync(file).size / 8_192 / 2) * 8_192);
    closeSync(descriptor);
    const found = (await doctor('--offline')).checks.find(({ id }) => id === 'database');
    expect(found).toMatchObject({ state: 'failed', remedy: expect.stringContaining(' backup restore BACKUPS') });
  });
});
