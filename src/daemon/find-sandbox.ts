// Looks for the sandbox that shells and MCP servers of runs need.
import { probeSandbox, type SandboxProbe } from '../agent/sandbox/sandbox.ts';
import type { Config } from '../config/config.ts';
import { sandboxSettings } from '../config/sandbox-settings.ts';
import { removeOrphanedFolders } from '../disk/temporary-folder.ts';
import type { Log } from '../log/log.ts';

/** Looks for the sandbox, once: the result is valid until the next start. */
export async function findSandbox(config: Config, log: Log): Promise<SandboxProbe> {
  await removeOrphanedFolders().catch((error: unknown) =>
    log.warn({ err: error }, 'leftover temporary folders could not be removed'),
  );
  const found = await probeSandbox(sandboxSettings(config));
  if (!found.ok) log.warn({ why: found.why }, 'the shell tool is off: no sandbox is available');
  else log.info({ memory: found.grant.groups === null ? 'watched' : 'control group' }, 'the sandbox works');
  return found;
}
