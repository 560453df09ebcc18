// Runs commands in a bubblewrap sandbox: no network, no files but the workspace, nothing left running.
import { constants as fsConstants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import { captureOutput } from './captured-output.ts';
import type { SandboxGrant } from '../port/grants.ts';
import { takeControlGroups } from './control-group.ts';
import { type Advice, adviceOn } from './advice.ts';
import { ending, launch, prepare, stop, watchMemory } from './launch.ts';
import { SANDBOX_OWNER } from './users.ts';
import type { Mount, StopCause } from './walls.ts';
import { makeTemporaryFolder } from '../../disk/temporary-folder.ts';
import { removeTree } from '../../disk/remove-beneath.ts';

const PROBE_TIMEOUT_MS = 10_000;

export interface ShellResult {
  /** Null when the command was stopped or killed. */
  readonly exitCode: number | null;
  /** The signal that killed the command, such as `SIGSEGV`; null when it exited or was stopped. */
  readonly signal: string | null;
  readonly stopped?: StopCause;
  /** Standard output and error interleaved, as text, up to the grant's limit. */
  readonly output: string;
  /** Bytes of output, shown or not. */
  readonly bytes: number;
  readonly durationMs: number;
}

export interface SandboxRequest {
  /** Absolute path of the workspace directory, the command's `/workspace`. */
  readonly workspace: string;
  readonly command: string;
  /** Further folders that the command can read. */
  readonly mounts?: readonly Mount[];
  /** Below the grant's limit, if given. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** Called when the command runs. */
  launched?(): void;
}

export interface SandboxSettings extends Omit<SandboxGrant, 'bwrap' | 'owner' | 'groups' | 'watches' | 'space'> {
  /** Folders to search for `bwrap`, in the form of PATH. */
  readonly path: string;
  /** The daemon's own folders. Commands can read /usr, so these must not be in it. */
  readonly privateFolders: readonly string[];
}

export type SandboxProbe = { readonly ok: true; readonly grant: SandboxGrant } | ({ readonly ok: false } & Advice);

/**
 * Finds bubblewrap and runs a command in the sandbox that a grant describes. Calls `launched`
 * when the command runs, which takes longer than all before it.
 */
export async function probeSandbox(settings: SandboxSettings, launched?: () => void): Promise<SandboxProbe> {
  const { path, privateFolders, ...limits } = settings;
  const bwrap = await findProgram('bwrap', path);
  if (bwrap === undefined) {
    const install = 'apt-get install -y bubblewrap';
    return { ok: false, why: `bubblewrap is not installed (Debian: ${install}).`, mend: install };
  }
  const open = await findReadable(privateFolders);
  if (open !== undefined)
    return { ok: false, why: `${open} is in /usr, which commands can read; move it elsewhere.`, mend: null };
  const owner = process.getuid?.() === 0 ? SANDBOX_OWNER : null;
  const grant: SandboxGrant = {
    ...limits,
    bwrap,
    owner,
    groups: await takeControlGroups(),
    watches: 'limited',
    space: null,
  };
  let found = await tryOut(grant, launched);
  for (const lesser of lesserThan(grant)) if (!found.ok) found = await tryOut(lesser);
  return found;
}

/**
 * What to try when a system doesn't allow all of it, the best first. It may delegate only part of what control groups need, and then
 * memory is watched from outside; and AppArmor may allow user namespaces to bubblewrap alone.
 */
function lesserThan(grant: SandboxGrant): readonly SandboxGrant[] {
  const all = (['limited', 'refused'] as const).flatMap((watches) =>
    [...new Set([grant.groups, null])].map((groups) => ({ ...grant, groups, watches })),
  );
  return all.slice(1);
}

async function tryOut(grant: SandboxGrant, launched?: () => void): Promise<SandboxProbe> {
  const workspace = await makeTemporaryFolder('probe');
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const command = 'test -w /workspace && test ! -e /etc/shadow';
    const result = await runInSandbox(grant, { workspace, command, signal, ...(launched && { launched }) });
    if (result.exitCode === 0) return { ok: true, grant };
    return { ok: false, why: `a trial command failed in the sandbox: ${result.stopped ?? result.output}.`, mend: null };
  } catch (error) {
    return { ok: false, ...adviceOn(messageOf(error)) };
  } finally {
    await removeTree(workspace);
  }
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(':').filter((folder) => folder.startsWith('/'))) {
    const found = await access(join(folder, name), fsConstants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return join(folder, name);
  }
  return undefined;
}

async function findReadable(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const real = await realpath(folder).catch(() => folder);
    if (real === '/usr' || real.startsWith('/usr/')) return folder;
  }
  return undefined;
}

/**
 * Runs one command to its end. When it resolves, nothing that the command started is alive. The command's failure is part of
 * the result; throws only when the sandbox itself could not be built, with bubblewrap's error.
 */
export async function runInSandbox(grant: SandboxGrant, request: SandboxRequest): Promise<ShellResult> {
  if (grant.owner === null && process.getuid?.() === 0) throw new Error('Commands are never run as root.');
  const startedAt = performance.now();
  const timeoutMs = Math.min(request.timeoutMs ?? grant.timeoutMs, grant.timeoutMs);
  const { workspace } = request;
  const prepared = await prepare(grant, {
    workspace,
    mounts: request.mounts ?? [],
    task: { kind: 'command', command: request.command, timeoutMs },
  });
  const durationMs = () => Math.round(performance.now() - startedAt);
  if (request.signal.aborted) {
    await prepared.group?.close();
    return { exitCode: null, signal: null, stopped: 'canceled', output: '', bytes: 0, durationMs: durationMs() };
  }
  const launched = launch(prepared);
  request.launched?.();
  const output = captureOutput();
  const stopCommand = (cause: StopCause) => stop(launched, cause);
  launched.stdout.on('data', (chunk: Buffer) => {
    if (launched.stopped === undefined) output.push(chunk);
    if (output.bytes() > grant.maxOutputBytes) stopCommand('output');
  });
  const timer = setTimeout(() => stopCommand('timeout'), timeoutMs);
  const cancel = () => stopCommand('canceled');
  request.signal.addEventListener('abort', cancel, { once: true });
  const watch = watchMemory(launched, grant.memoryBytes);
  try {
    const ended = await ending(launched);
    const outcome =
      launched.stopped === undefined ? ended : { exitCode: null, signal: null, stopped: launched.stopped };
    return { ...outcome, output: output.text(), bytes: output.bytes(), durationMs: durationMs() };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    request.signal.removeEventListener('abort', cancel);
  }
}
