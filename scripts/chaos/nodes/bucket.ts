// The bucket of a storm, on a server in a process of its own; its objects are looked at as the files that the server keeps.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Chance } from '../../../src/selftest/storm/chance.ts';
import { type Places, readIfThere } from '../../../src/selftest/checks/stored-blobs.ts';

export interface ChaosBucket extends Pick<Places, 'listFiles' | 'readFile'> {
  /** The value of `blobs.s3`. */
  readonly settings: object;
  /** Its server stands still, or is killed and started again after a while. */
  fail(chance: Chance): Promise<void>;
  close(): Promise<void>;
}

const [NAME, PREFIX, KEY] = ['storm', 'errand/', 'S3RVER:S3RVER'];
/** How s3rver names the bytes of an object. */
const SUFFIX = '._S3rver_object';

/** Starts it with a folder of its own in `scratch`. */
export async function startBucket(scratch: string): Promise<ChaosBucket> {
  const directory = join(scratch, 'bucket');
  mkdirSync(directory);
  const keyFile = join(scratch, 'bucket-key');
  writeFileSync(keyFile, `${KEY}\n`, { mode: 0o600 });
  const server = await keepServer([directory, NAME]);
  const objects = join(directory, NAME, PREFIX);
  mkdirSync(objects, { recursive: true });
  return {
    settings: { endpoint: `http://127.0.0.1:${server.port}`, bucket: NAME, prefix: PREFIX, key_file: keyFile },
    listFiles: () =>
      readdirSync(objects, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith(SUFFIX))
        .map((path) => basename(path, SUFFIX)),
    readFile: (key) => readIfThere(join(objects, key.slice(0, 2), `${key}${SUFFIX}`)),
    fail: server.fail,
    close: server.close,
  };
}

/** A server that is started again, at its port, when it was killed. */
async function keepServer(args: readonly string[]) {
  let server = await startServer(args);
  const { port } = server;
  return {
    port,
    fail: async (chance: Chance): Promise<void> => {
      const isKill = chance.oneIn(2);
      server.child.kill(isKill ? 'SIGKILL' : 'SIGSTOP');
      await sleep(chance.pick([chance.between(500, 5_000), chance.between(5_000, 40_000)]));
      if (!isKill) return void server.child.kill('SIGCONT');
      await server.ended;
      server = await startServer([...args, String(port)]);
    },
    close: async (): Promise<void> => {
      server.child.stdin?.end();
      await server.ended;
    },
  };
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly ended: Promise<unknown>;
}

async function startServer(args: readonly string[]): Promise<Server> {
  const script = fileURLToPath(new URL('./bucket-main.ts', import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('The server of the bucket ended before it was ready.'))),
  ])) as [Buffer];
  return { child, port: Number(line), ended };
}
