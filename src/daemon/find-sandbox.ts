// Looks for the sandbox that shells and MCP servers of runs need.
import { probeSandbox, type SandboxProbe } from '../agent/sandbox/sandbox.ts';
import type { Config } from '../config/config.ts';
import { removeOrphanedFolders } from '../disk/temporary-folder.ts';
import type { Log } from '../log/log.ts';

/** Where bubblewrap is searched for. */
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Looks for the sandbox, once: the result is valid until the next start. */
export async function findSandbox({ settings, places }: Config, log: Log): Promise<SandboxProbe> {
  const { shell } = settings;
  await removeOrphanedFolders().catch((error: unknown) =>
    log.warn({ err: error }, 'leftover temporary folders could not be removed'),
  );
  const found = await probeSandbox({
    path: PROGRAM_PATH,
    privateFolders: [places.dataDir, places.configDir],
    timeoutMs: shell.timeoutSeconds * 1_000,
    maxOutputBytes: shell.maxOutputKb * 1_024,
    memoryBytes: shell.memoryMb * 1_048_576,
    maxProcesses: shell.maxProcesses,
  });
  if (!found.ok) log.warn({ why: found.why }, 'the shell tool is off: no sandbox is available');
  else log.info({ memory: found.grant.groups === null ? 'watched' : 'control group' }, 'the sandbox works');
  return found;
}
