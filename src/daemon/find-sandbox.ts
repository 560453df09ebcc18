// Looks for the sandbox that shells and MCP servers of runs need, while the rest of the daemon is built.
import type { SandboxGrant } from '../agent/port/grants.ts';
import { probeSandbox, type SandboxProbe } from '../agent/sandbox/sandbox.ts';
import type { Config } from '../config/config.ts';
import { sandboxSettings } from '../config/sandbox-settings.ts';
import { removeOrphanedFolders } from '../disk/temporary-folder.ts';
import type { Log } from '../log/log.ts';
import type { Closer } from './closers.ts';

/** A search that has begun. */
export interface SandboxSearch {
  /** What it has found: nothing, before it has ended. */
  found(): SandboxProbe;
  /** Its trial command runs, which takes a while; or it has ended. */
  readonly begun: Promise<void>;
  readonly ended: Promise<void>;
}

/** Looks for the sandbox, once: the result is valid until the next start. */
export function findSandbox(config: Config, log: Log, closers: Closer[]): SandboxSearch {
  let found: SandboxProbe = { ok: false, why: 'the search for it has not finished', mend: null };
  const { promise: launched, resolve } = Promise.withResolvers<void>();
  const ended = look(config, log, resolve).then((probe) => {
    found = probe;
  });
  // Its trial command must not outlive a start that fails for another reason.
  const settled = ended.catch(() => undefined);
  closers.push(() => settled);
  return { found: () => found, begun: Promise.race([launched, settled]), ended };
}

async function look(config: Config, log: Log, launched: () => void): Promise<SandboxProbe> {
  const removed = removeOrphanedFolders().catch((error: unknown) =>
    log.warn({ err: error }, 'leftover temporary folders could not be removed'),
  );
  const [found] = await Promise.all([probeSandbox(sandboxSettings(config), launched), removed]);
  if (!found.ok) log.warn({ why: found.why }, 'the shell tool is off: no sandbox is available');
  else log.info(traitsOf(found.grant), 'the sandbox works');
  return found;
}

/** What a sandbox is on this system, which not every system offers whole. */
const traitsOf = ({ groups, owner, watches }: SandboxGrant) => ({
  memory: groups === null ? 'watched' : 'control group',
  kernel_user: owner === null ? "the daemon's" : 'its own',
  file_watches: watches,
});
