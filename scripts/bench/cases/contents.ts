// Published content: the same files from a share, from a bare node:http server and from nginx.
import { join } from 'node:path';
import { openDownloader } from '../download.ts';
import { callInLoop, quantile } from '../load.ts';
import { cpuMsOf } from '../process-figures.ts';
import type { MeasuredServer } from '../servers/start.ts';
import { startFileServer } from '../servers/start.ts';
import { startNginx } from '../servers/nginx.ts';
import type { Figures, Scale } from './scale.ts';

/** A file that is downloaded. */
export interface Content {
  readonly name: 'small' | 'medium' | 'large';
  readonly size: number;
  /** Its path at errand. */
  readonly path: string;
  /** The key of its blob. */
  readonly key: string;
}

/** Connections at a time. */
const CLIENTS = { small: 16, medium: 4, large: 1 } as const;
const ROUNDS = 5;
const MEGABYTE = 1_048_576;

interface Contender {
  readonly name: 'Errand' | 'Bare' | 'Nginx';
  readonly server: Pick<MeasuredServer, 'pid'>;
  readonly url: string;
  pathOf(content: Content): string;
}

interface Measured {
  readonly scale: Scale;
  readonly failures: string[];
}

/** What downloads in one round took. */
interface Round {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly p99Ms: number;
}

/** Downloads each file from each server. Adds failures to `failures`; without nginx, its figures are not numbers. */
export async function measureContents(
  errand: MeasuredServer & { readonly url: string; readonly dataDir: string },
  contents: readonly Content[],
  { scratch, ...measured }: Measured & { readonly scratch: string },
): Promise<Figures> {
  const folder = join(errand.dataDir, 'blobs');
  const [bare, nginx] = [await startFileServer(folder, scratch), await startNginx(folder, scratch)];
  const pathOf = ({ key }: Content) => `/${key.slice(0, 2)}/${key}`;
  const contenders: Contender[] = [
    { name: 'Errand', server: errand, url: errand.url, pathOf: ({ path }) => path },
    { name: 'Bare', server: bare, url: bare.target.url, pathOf },
    ...(nginx === undefined ? [] : [{ name: 'Nginx', server: nginx, url: nginx.target.url, pathOf } as const]),
  ];
  try {
    const figures: Figures = {};
    for (const content of contents) Object.assign(figures, await compare(contenders, content, measured));
    return figures;
  } finally {
    await Promise.all([bare.close(), nginx?.close()]);
  }
}

/** The medians of several rounds, in which the servers take turns: what else happens on the machine hits them alike. */
async function compare(contenders: readonly Contender[], content: Content, measured: Measured): Promise<Figures> {
  const { name, size } = content;
  const rounds = new Map<Contender['name'], Round[]>();
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const contender of contenders) {
      const taken = await download(contender, content, measured);
      // The first warms up.
      if (round > 0) rounds.set(contender.name, [...(rounds.get(contender.name) ?? []), taken]);
    }
  const figures: Figures = { [`${name}ContentMb`]: size / MEGABYTE };
  for (const server of ['Errand', 'Bare', 'Nginx'] as const) {
    const median = (of: (round: Round) => number) => quantile((rounds.get(server) ?? []).map(of), 0.5);
    figures[`${name}${server}PerSecond`] = median(({ perSecond }) => perSecond);
    figures[`${name}${server}MbPerSecond`] = (figures[`${name}${server}PerSecond`]! * size) / MEGABYTE;
    figures[`${name}${server}CpuMs`] = median(({ cpuMs }) => cpuMs);
    figures[`${name}${server}P99Ms`] = median(({ p99Ms }) => p99Ms);
  }
  const ratioOf = (figure: string) => figures[`${name}Errand${figure}`]! / figures[`${name}Bare${figure}`]!;
  figures[`${name}CpuRatio`] = ratioOf('CpuMs');
  figures[`${name}SpeedPercent`] = 100 * ratioOf('PerSecond');
  return figures;
}

async function download(
  { server, url, pathOf }: Contender,
  content: Content,
  { scale, failures }: Measured,
): Promise<Round> {
  const clients = CLIENTS[content.name];
  const path = pathOf(content);
  const idle = await Promise.all(Array.from({ length: clients }, () => openDownloader(url)));
  const limit = content.name === 'large' ? { forMs: Infinity, atMost: 1 } : { forMs: scale.loadMs / 3 };
  const before = cpuMsOf(server.pid());
  const {
    results,
    failures: failed,
    seconds,
  } = await callInLoop(clients, limit, async () => {
    const downloader = idle.pop()!;
    const startedAt = performance.now();
    await downloader.get(path, content.size);
    idle.push(downloader);
    return performance.now() - startedAt;
  });
  const cpuMs = cpuMsOf(server.pid()) - before;
  failures.push(...failed);
  for (const downloader of idle) downloader.close();
  return { perSecond: results.length / seconds, cpuMs: cpuMs / results.length, p99Ms: quantile(results, 0.99) };
}
