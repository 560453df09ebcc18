// Swift on loopback: one proxy with the S3 interface, and one server each of accounts, containers and objects, on ports of their own.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { S3Key, S3Target } from '../../src/files/blobs/s3/target.ts';
import { freePort } from '../../test/support/http/free-port.ts';

export const SWIFT_KEY: S3Key = { id: 'test:tester', secret: 'testing' };

export interface Swift {
  readonly target: S3Target;
  stop(): void;
}

const SERVERS = ['account', 'container', 'object'] as const;
const STARTED_MS = 30_000;

/** Starts it in a folder; null where it isn't installed. */
export async function startSwift(folder: string): Promise<Swift | null> {
  try {
    execFileSync('sh', ['-c', 'command -v swift-proxy-server swift-object-server swift-ring-builder'], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  const [etc, devices] = [join(folder, 'etc'), join(folder, 'devices')];
  for (const path of [etc, join(devices, 'd1')]) mkdirSync(path, { recursive: true });
  writeFileSync(join(etc, 'swift.conf'), '[swift-hash]\nswift_hash_path_suffix = test\n');
  for (const name of SERVERS) {
    const port = await freePort();
    writeFileSync(join(etc, `${name}.conf`), serverConf({ name, port, etc, devices }));
    for (const args of [['create', '1', '1', '0'], ['add', `r1z1-127.0.0.1:${port}/d1`, '1'], ['rebalance']])
      execFileSync('swift-ring-builder', [`${name}.builder`, ...args], { cwd: etc, stdio: 'ignore' });
  }
  const port = await freePort();
  writeFileSync(join(etc, 'proxy.conf'), proxyConf(port, etc));
  const log = openSync(join(folder, 'swift.log'), 'a');
  const env = { ...process.env, SWIFT_DIR: etc };
  const children = [...SERVERS, 'proxy'].map((name) =>
    spawn(`swift-${name}-server`, [join(etc, `${name}.conf`)], { env, stdio: ['ignore', log, log], detached: true }),
  );
  const stop = () => {
    for (const { pid } of children) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  };
  const endpoint = `http://127.0.0.1:${port}`;
  for (let waited = 0; !(await answers(endpoint)); waited += 200) {
    if (waited > STARTED_MS) {
      stop();
      throw new Error(`Swift does not start: ${join(folder, 'swift.log')}`);
    }
    await pause(200);
  }
  const place = { region: 'us-east-1', bucket: 'errand-try', prefix: 'errand/', pathStyle: true };
  return { target: { endpoint, ...place, caFile: null, encryption: null, key: () => SWIFT_KEY }, stop };
}

async function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint).then(
    () => true,
    () => false,
  );
}

const common = (port: number, etc: string) =>
  `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${port}\nswift_dir = ${etc}\nuser = root\nworkers = 0\n`;

interface Server {
  readonly name: string;
  readonly port: number;
  readonly etc: string;
  readonly devices: string;
}

const serverConf = ({ name, port, etc, devices }: Server) =>
  `${common(port, etc)}devices = ${devices}\nmount_check = false\n` +
  `[pipeline:main]\npipeline = ${name}-server\n[app:${name}-server]\nuse = egg:swift#${name}\n`;

const proxyConf = (port: number, etc: string) => `${common(port, etc)}[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
`;
