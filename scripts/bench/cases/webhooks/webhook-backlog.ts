// Many deliveries that can't arrive, and many events that are planned at once: what they cost, and what they do to others.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonProcess, startDaemonProcess } from '../../../../test/support/daemon/daemon-process.ts';
import { waitFor } from '../../../../test/support/time/wait-for.ts';
import { makeCaller } from '../../calls.ts';
import { oneByOne, pause, quantile, type Shot, type Target } from '../../load.ts';
import { cpuMsOf, memoryMbOf } from '../../process-figures.ts';
import { type MeasuredServer, startHookSink } from '../../servers/start.ts';
import { fillStore } from '../../stores/fill-store.ts';
import { addPending, watchRows } from '../../stores/webhook-rows.ts';
import type { Figures, Scale } from '../scale.ts';
import { createHook, enable, HOOK_YAML, portsOf, takenBy } from './webhooks.ts';

const HEAP = new URL('../../servers/heap.mjs', import.meta.url).href;
const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
/** Half of them refuse connections, half never reply. */
const DEAD_HOOKS = 100;
/** Nothing listens at the port of TCP's multiplexer. */
const REFUSED = 'http://127.0.0.1:1';
const SETTLE_MS = 3_000;

interface Parts {
  readonly modelUrl: string;
  readonly scratch: string;
}

/** A daemon whose heap can be read. */
interface Daemon {
  readonly daemon: DaemonProcess;
  readonly target: Target;
  heapMb(): Promise<number>;
}

/** Measures both. */
export async function measureBacklogs(parts: Parts, scale: Scale, failures: string[]): Promise<Figures> {
  const sink = await startHookSink(parts.scratch);
  try {
    return {
      ...(await measureDead(parts, sink, scale, failures)),
      ...(await measurePlanning(parts, scale, failures)),
    };
  } finally {
    await sink.close();
  }
}

async function startDaemon({ modelUrl, scratch }: Parts): Promise<Daemon> {
  const heapFile = join(scratch, 'hooks.heap.json');
  const daemon = await startDaemonProcess({
    modelServerUrl: modelUrl,
    errandYaml: HOOK_YAML,
    env: { NODE_OPTIONS: `--expose-gc --import=${HEAP}`, BENCH_HEAP_FILE: heapFile },
  });
  const url = `${daemon.url}/openapi/v1/chat/completions`;
  return {
    daemon,
    target: { name: 'errand', url, headers: { authorization: `Bearer ${daemon.apiKey}` } },
    heapMb: async () => {
      rmSync(heapFile, { force: true });
      process.kill(daemon.pid(), 'SIGUSR2');
      const text = await waitFor(() => existsSync(heapFile) && readFileSync(heapFile, 'utf8').trim(), {
        what: 'the heap',
      });
      return (JSON.parse(text) as { heapMb: number }).heapMb;
    },
  };
}

/** The same runs with a living webhook: without anything pending for others, and with much. */
async function measureDead(parts: Parts, sink: MeasuredServer, scale: Scale, failures: string[]): Promise<Figures> {
  const { living, hanging } = await portsOf(sink);
  const fixture = await startDaemon(parts);
  const { daemon, target, heapMb } = fixture;
  try {
    await enable(fixture, [await createHook(fixture, { url: living[0]! })]);
    const dead: number[] = [];
    for (let i = 0; i < DEAD_HOOKS; i += 1)
      dead.push(await createHook(fixture, { url: i % 2 === 0 ? REFUSED : hanging }));
    failures.push(...(await oneByOne(target, ANSWER, 20)).failures);

    const look = async () => {
      await daemon.restart();
      await pause(SETTLE_MS);
      await takenBy(sink);
      const before = cpuMsOf(daemon.pid());
      const volley = await oneByOne(target, ANSWER, scale.single);
      failures.push(...volley.failures);
      await pause(SETTLE_MS);
      const { delaysMs, count } = await takenBy(sink);
      if (count !== scale.single) failures.push(`${count} of ${scale.single} living webhooks arrived`);
      const [rssMb, cpuMs] = [memoryMbOf(daemon.pid(), 'VmRSS'), cpuMsOf(daemon.pid()) - before];
      return { heapMb: await heapMb(), rssMb, cpuMs, delaysMs };
    };
    const alone = await look();
    await enable(fixture, dead);
    await daemon.stop();
    const pending = { webhookIds: dead, count: scale.sessions / DEAD_HOOKS, dueAt: Date.now() };
    addPending(daemon.dataDir, pending);
    const crowded = await look();
    return {
      hookPending: scale.sessions,
      hookPendingHeapMb: crowded.heapMb - alone.heapMb,
      hookPendingRssMb: crowded.rssMb - alone.rssMb,
      hookPendingCpuMs: (crowded.cpuMs - alone.cpuMs) / scale.single,
      hookAloneP50Ms: quantile(alone.delaysMs, 0.5),
      hookAloneP99Ms: quantile(alone.delaysMs, 0.99),
      hookBehindP50Ms: quantile(crowded.delaysMs, 0.5),
      hookBehindP99Ms: quantile(crowded.delaysMs, 0.99),
    };
  } finally {
    await daemon.close();
  }
}

/** Events that were committed without being planned: copies of a run, added while the daemon is stopped. */
async function measurePlanning(parts: Parts, scale: Scale, failures: string[]): Promise<Figures> {
  const fixture = await startDaemon(parts);
  const { daemon, target } = fixture;
  const caller = makeCaller({ ...target, url: daemon.url }, 1);
  try {
    const { failures: failed } = await oneByOne(target, ANSWER, 1);
    failures.push(...failed);
    const { items } = (await daemon.admin('GET', '/api/v1/sessions?limit=1')) as { items: { session_id: string }[] };
    await enable(fixture, [await createHook(fixture, { url: REFUSED })]);
    await daemon.stop();
    fillStore(daemon.dataDir, items[0]!.session_id, scale.sessions);
    await daemon.restart();
    const rows = watchRows(daemon.dataDir);
    const [before, from, startedAt] = [cpuMsOf(daemon.pid()), rows.planned(), performance.now()];
    let slowestMs = 0;
    await waitFor(
      async () => {
        const { tookMs } = await caller.call({ method: 'GET', path: '/healthz', expect: 200 });
        slowestMs = Math.max(slowestMs, tookMs);
        return rows.planned() >= scale.sessions;
      },
      { everyMs: 50, timeoutMs: 600_000, what: 'all events are planned' },
    );
    const seconds = (performance.now() - startedAt) / 1_000;
    const planned = scale.sessions - from;
    const cpuMs = cpuMsOf(daemon.pid()) - before;
    rows.close();
    return {
      hookPlanned: scale.sessions,
      hookPlannedPerSecond: planned / seconds,
      hookPlannedCpuMs: cpuMs / planned,
      hookPlannedSlowestMs: slowestMs,
    };
  } finally {
    await caller.close();
    await daemon.close();
  }
}
