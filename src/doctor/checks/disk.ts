// Checks of disks: what is free on this one, and how fast it goes on those of all nodes.
import { statfsSync } from 'node:fs';
import { OPTIONS } from '../../config/options.ts';
import { MB } from '../../domain/byte-units.ts';
import type { DiskSample } from '../../store/inspection/disk-samples.ts';
import { inMegabytes } from '../../terminal/sizes.ts';
import { type Check, failed, type CheckResult, ok, skipped, together, warning } from '../check.ts';
import type { Subject } from '../subject.ts';

const HOUR_MS = 3_600_000;
/** A rate over less time says little. */
const MIN_SPAN_MS = 6 * HOUR_MS;
/** A disk that is full within this time needs someone. */
const SOON_MS = 7 * 24 * HOUR_MS;
const FEW_INODES = 0.05;

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
    return withOthers(subject, withRate(rateOf(await subject.diskSamples(), BYTES), rest, { words, ...BYTES }), BYTES);
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
    return withOthers(
      subject,
      withRate(rateOf(await subject.diskSamples(), INODES), ffree, { words, ...INODES }),
      INODES,
    );
  },
};

interface Supply {
  readonly amountIn: (sample: DiskSample) => number | null;
  readonly inWords: (amount: number) => string;
}

const BYTES: Supply = { amountIn: ({ freeBytes }) => freeBytes, inWords: inMegabytes };
const INODES: Supply = { amountIn: ({ freeInodes }) => freeInodes, inWords: (count) => `${Math.ceil(count)}` };

/** What goes per millisecond; null when that isn't known yet. */
function rateOf(samples: readonly DiskSample[], { amountIn }: Supply): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < MIN_SPAN_MS) return null;
  const [before, after] = [amountIn(first), amountIn(last)];
  return before === null || after === null ? null : (before - after) / (last.at - first.at);
}

type Free = Pick<Supply, 'inWords'> & { readonly words: string };

function withRate(perMs: number | null, rest: number, { words, inWords }: Free): CheckResult {
  if (perMs === null) return ok(`${words}; the rate is known after some hours of running`);
  if (perMs <= 0) return ok(`${words}, and no fewer than a week ago or at the first measurement`);
  const leftMs = rest / perMs;
  const days = Math.floor(leftMs / (24 * HOUR_MS));
  const evidence = `${words}, ${inWords(perMs * 24 * HOUR_MS)} a day go: enough for ${days} days`;
  return leftMs < SOON_MS ? warning(evidence, FREE_SPACE) : ok(evidence);
}

/** With the other nodes whose disks fill soon, as they have measured them. */
async function withOthers({ daemon, diskSamples }: Subject, own: CheckResult, supply: Supply): Promise<CheckResult> {
  const nodes = daemon.state === 'running' ? daemon.nodes() : [];
  const others = nodes.filter(({ isThis, state }) => !isThis && state !== 'offline');
  const found = await Promise.all(
    others.map(async ({ id, name }) => {
      const samples = await diskSamples(id);
      const rest = samples.length === 0 ? null : supply.amountIn(samples.at(-1)!);
      if (rest === null) return [];
      return [
        withRate(rateOf(samples, supply), rest, { words: `on ${name}, ${supply.inWords(rest)} are free`, ...supply }),
      ];
    }),
  );
  const filling = found.flat().filter(({ state }) => state === 'warning');
  return filling.length === 0 ? own : together([own, ...filling], own.evidence);
}

export const DISK_CHECKS: readonly Check[] = [disk, inodes];
