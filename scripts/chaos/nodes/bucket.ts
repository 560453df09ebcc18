// The bucket of a storm, on a server in a process of its own; its objects are looked at as the files that the server keeps.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Places, readIfThere } from '../../../src/selftest/checks/stored-blobs.ts';

export interface ChaosBucket extends Pick<Places, 'listFiles' | 'readFile'> {
  /** The value of `blobs.s3`. */
  readonly settings: object;
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
  const script = fileURLToPath(new URL('./bucket-main.ts', import.meta.url));
  const child = spawn(process.execPath, [script, directory, NAME], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('The server of the bucket ended before it was ready.'))),
  ])) as [Buffer];
  const objects = join(directory, NAME, PREFIX);
  mkdirSync(objects, { recursive: true });
  return {
    settings: { endpoint: `http://127.0.0.1:${Number(line)}`, bucket: NAME, prefix: PREFIX, key_file: keyFile },
    listFiles: () =>
      readdirSync(objects, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith(SUFFIX))
        .map((path) => basename(path, SUFFIX)),
    readFile: (key) => readIfThere(join(objects, key.slice(0, 2), `${key}${SUFFIX}`)),
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
