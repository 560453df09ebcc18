// Checks of the machine: Node.js, open files, the disk, the clock.
import { isUnset } from '../../domain/clock.ts';
import { adviceOnDescriptors } from '../../files/descriptor-limit.ts';
import { VERSION } from '../../version.ts';
import { type Check, failed, ok, warning } from '../check.ts';
import { byHand } from '../remedies.ts';
import { DISK_CHECKS } from './disk.ts';

/** Clocks of file systems and databases are a little coarse. */
const CLOCK_SLACK_MS = 60_000;

const node: Check = {
  id: 'node',
  title: 'Node.js and open files',
  examine: ({ locations }) => {
    const evidence = `Errand ${VERSION} on Node ${process.versions.node}, ${process.execPath}`;
    const advice = adviceOnDescriptors();
    return advice === null
      ? ok(evidence)
      : warning(
          `${evidence}; ${advice}`,
          locations.isService ? MORE_FILES : byHand('ulimit -n 65536, before it is started'),
        );
  },
};

const MORE_FILES =
  "mkdir -p /etc/systemd/system/errand.service.d && printf '[Service]\\nLimitNOFILE=65536\\n' >/etc/systemd/system/errand.service.d/files.conf && systemctl daemon-reload && systemctl restart errand";

const clock: Check = {
  id: 'clock',
  title: 'The clock',
  examine: async ({ clock: { now }, scan }) => {
    const at = now();
    const seen = await scan();
    const newest = seen.ok ? seen.database.newestEventAt : null;
    const words = `it is ${new Date(at).toISOString()}`;
    if (isUnset(at)) return failed(`${words}: the clock was never set`, SET_CLOCK);
    if (newest === null || newest <= at + CLOCK_SLACK_MS) return ok(words);
    const ahead = Math.round((newest - at) / 1_000);
    return failed(`${words}, and the newest event is ${ahead} s later: the clock was set back`, SET_CLOCK);
  },
};

const SET_CLOCK = 'timedatectl set-ntp true';

export const MACHINE_CHECKS: readonly Check[] = [node, ...DISK_CHECKS, clock];
