// Writes one thing the way the daemon does, for a tracer to look at.
import { makeHalt } from '../../../src/domain/halt.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeArgumentCheck } from '../../../src/agent/loop/argument-check.ts';
import { type Asked, performCall } from '../../../src/agent/loop/perform-call.ts';
import { openWorkspace } from '../../../src/agent/loop/run-workspace.ts';
import type { Brief } from '../../../src/agent/port/protocol.ts';
import { writeFile } from '../../../src/agent/tools/write-file.ts';
import { replaceFileBeneath } from '../../../src/disk/replace-beneath.ts';
import { placeBlobs } from '../../../src/files/blobs/blob-place.ts';
import { openBlobsInFiles } from './blobs-in-files.ts';
import { writeAtomically } from '../../../src/files/blobs/write-atomically.ts';
import { ROOMY } from './space.ts';

const [what = '', directory = ''] = process.argv.slice(2);
const BYTES = Buffer.from('bytes');

async function call(writes: boolean): Promise<void> {
  const workspace = join(directory, 'workspace');
  const model = { contextWindow: 100_000, maxOutputTokens: 1_000 } as Brief['model'];
  const equipment = { skills: [], mcp: [], subagents: [], connections: [], browser: null };
  const brief = { workspace, workspaceOwner: null, sandbox: null, space: ROOMY, egress: [], model, equipment };
  const channel = { halt: makeHalt(), request: async () => null as never };
  const asked: Asked = {
    tools: [{ ...writeFile, writes, execute: async () => ({ ok: true, output: 'done' }) }],
    call: { id: 'call', name: 'write_file', input: { path: 'a', content: 'b' } },
    fault: undefined,
  };
  const workspaceOfRun = openWorkspace({ ...brief, announces: 'none' });
  const run = { brief: brief as unknown as Brief, channel, workspace: workspaceOfRun };
  await performCall({ ...run, argumentFaults: makeArgumentCheck() }, asked);
}

/** Locations a blob from a file, and some from bytes. */
async function place(count: number): Promise<void> {
  const incoming = join(directory, 'incoming');
  mkdirSync(incoming, { recursive: true });
  writeFileSync(join(incoming, 'a'), BYTES);
  const keys = Array.from({ length: count }, (_, at) => '11' + String(at).padStart(62, '0'));
  const written = keys.map((key) => ({ path: join(incoming, key), key, bytes: BYTES }));
  await placeBlobs(directory, [{ path: join(incoming, 'a'), key: '0'.repeat(64) }, ...written]);
}

const DEEDS: Readonly<Record<string, () => Promise<void> | void>> = {
  replace: () => replaceFileBeneath(directory, 'named', BYTES),
  whole: () => writeAtomically(join(directory, 'named'), BYTES, 0o600),
  blob: async () => void (await (await openBlobsInFiles(directory)).hold().put(BYTES)),
  found: async () => {
    const key = '0'.repeat(64);
    mkdirSync(join(directory, '00'), { recursive: true });
    await placeBlobs(directory, [], [key]);
  },
  placed: () => place(1),
  many: () => place(40),
  writing: () => call(true),
  reading: () => call(false),
};
await DEEDS[what]?.();
