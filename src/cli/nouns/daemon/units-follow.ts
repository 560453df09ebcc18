// After a setting was changed for the installed service: makes its units fit, or says which command does.
import path from 'node:path';
import { streamOf } from '../../../config/listen-address.ts';
import { OPTIONS } from '../../../config/options.ts';
import { planUnits, type UnitChanges, usesSocket } from '../../../service-manager/drop-ins.ts';
import { findInstalled } from '../../../service-manager/installed.ts';
import { thisMachine } from '../../../service-manager/machine.ts';
import type { Context } from '../../frame/context.ts';

/** What a running daemon does not take up. */
const AT_START: ReadonlySet<string> = new Set(['listen', 'metrics.listen']);

export interface Change {
  readonly name: string;
  /** Null for the default. */
  readonly value: string | null;
  /** Of the file that was changed. */
  readonly configDir: string;
  /** The same command for root. */
  readonly asRoot: string;
}

/** Does it, and says what takes effect when. Throws `unavailable` when systemd refuses. */
export async function makeUnitsFollow({ out }: Context, change: Change): Promise<void> {
  const installed = findInstalled();
  const isItsOwn = installed !== null && path.resolve(change.configDir) === installed.configDir;
  let restart = AT_START.has(change.name) ? (isItsOwn ? 'systemctl restart errand' : '') : null;
  if (isItsOwn) {
    const machine = thisMachine.hasSystemd() ? thisMachine : null;
    const changes = unitChangesOf(change);
    if (changes === null) {
      if (await usesSocket(installed, machine)) out.hint(NO_SOCKET);
    } else {
      const planned = await planUnits(installed, changes, { root: '/', machine });
      restart = planned.restart ?? restart;
      if (planned.steps.length > 0 && !thisMachine.isRoot())
        return out.hint(`The unit has to follow, which takes root: ${change.asRoot}`);
      for (const step of planned.steps) {
        await step.perform();
        out.hint(`Done for the service: ${step.line}`);
      }
    }
  }
  if (restart !== null)
    out.hint(`It takes effect when the daemon is started again${restart === '' ? '.' : `: ${restart}`}`);
}

const NO_SOCKET =
  'errand.socket can listen on addresses with a port alone. For this one: systemctl disable --now errand.socket, then systemctl restart errand';

/** What the units have to do for a setting; null for an address that is not for systemd. */
function unitChangesOf({ name, value }: Change): UnitChanges | null {
  if (name === 'backup.directory') return { directory: value === '' ? null : value };
  if (name !== 'listen') return {};
  const { fallback } = OPTIONS.listen;
  const listen = streamOf(value ?? (typeof fallback === 'string' ? fallback : ''));
  return listen === null ? null : { listen };
}
