// Checks of the machine: Node.js, open files, the disk and how fast it fills, the clock.
import { statfsSync } from 'node:fs';
import { MB } from '../../domain/byte-units.ts';
import { isUnset } from '../../domain/clock.ts';
import { adviceOnDescriptors } from '../../files/descriptor-limit.ts';
import { type DiskSample } from '../../store/inspection/disk-samples.ts';
import { OPTIONS } from '../../config/options.ts';
import { inMegabytes } from '../../terminal/sizes.ts';
import { VERSION } from '../../version.ts';
import { type Check, failed, type CheckResult, ok, skipped, warning } from '../check.ts';
import { byHand } from '../remedies.ts';
import type { Subject } from '../subject.ts';

const HOUR_MS = 3_600_000;
/** A rate over less time says little. */
const MIN_SPAN_MS = 6 * HOUR_MS;
/** A disk that is full within this time needs someone. */
const SOON_MS = 7 * 24 * HOUR_MS;
const FEW_INODES = 0.05;
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

const disk: Check = {
  id: 'disk',
  title: 'Free space, and how fast it goes',
  examine: async (subject) => {
    const { dataDir } = subject.locations;
    const { bavail, bsize, blocks } = statfsSync(dataDir);
    const free = bavail * bsize;
    const { keepFreeMb } = subject.settings().disk;
    const words = `${inMegabytes(free)} of ${inMegabytes(blocks * bsize)} are free for ${dataDir}`;
    const rest = free - keepFreeMb * MB;
    if (rest < 0)
      return failed(
        `${words}, and ${keepFreeMb} MB are to stay free: new turns are refused`,
        free > DEFAULT_FREE_MB * MB ? 'errand config set disk.keep_free_mb --default' : NO_SPACE,
      );
    return withRate(await rateOf(subject, ({ freeBytes }) => freeBytes), rest, {
      words,
      perDay: (bytes) => `${inMegabytes(bytes)} a day`,
      remedy: FREE_SPACE,
    });
  },
};

const FREE_SPACE = 'errand gc';
const NO_SPACE = `${FREE_SPACE}  # frees what Errand no longer needs; if that is not enough, make room on the disk by hand`;
/** Of the setting. */
const DEFAULT_FREE_MB = Number(OPTIONS['disk.keep_free_mb'].fallback);

const inodes: Check = {
  id: 'inodes',
  title: 'Free inodes, and how fast they go',
  examine: async (subject) => {
    const { files, ffree } = statfsSync(subject.locations.dataDir);
    if (files === 0) return skipped('the file system has no fixed number of inodes');
    const words = `${ffree} of ${files} are free`;
    if (ffree / files < FEW_INODES) return failed(words, FREE_SPACE);
    return withRate(await rateOf(subject, ({ freeInodes }) => freeInodes), ffree, {
      words,
      perDay: (count) => `${Math.ceil(count)} a day`,
      remedy: FREE_SPACE,
    });
  },
};

/** What goes per millisecond; null when that isn't known yet. */
async function rateOf({ diskSamples }: Subject, value: (sample: DiskSample) => number | null): Promise<number | null> {
  const samples = await diskSamples();
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < MIN_SPAN_MS) return null;
  const [before, after] = [value(first), value(last)];
  return before === null || after === null ? null : (before - after) / (last.at - first.at);
}

interface Filling {
  readonly words: string;
  readonly perDay: (amount: number) => string;
  readonly remedy: string;
}

function withRate(perMs: number | null, rest: number, { words, perDay, remedy }: Filling): CheckResult {
  if (perMs === null) return ok(`${words}; the rate is known after some hours of running`);
  if (perMs <= 0) return ok(`${words}, and no fewer than a week ago or at the first measurement`);
  const leftMs = rest / perMs;
  const evidence = `${words}, ${perDay(perMs * 24 * HOUR_MS)} go: enough for ${Math.floor(leftMs / (24 * HOUR_MS))} days`;
  return leftMs < SOON_MS ? warning(evidence, remedy) : ok(evidence);
}

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

export const MACHINE_CHECKS: readonly Check[] = [node, disk, inodes, clock];
