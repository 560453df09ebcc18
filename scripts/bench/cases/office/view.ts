// What `errand office` costs on a terminal while every row of a large installation changes.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  anEntity,
  anEvent,
  aSnapshot,
  type OfficeServer,
  startOfficeServer,
} from '../../../../test/support/http/office-server.ts';
import { waitFor } from '../../../../test/support/time/wait-for.ts';
import { pause } from '../../load.ts';
import { cpuMsOf, memoryMbOf } from '../../process-figures.ts';
import type { Figures } from '../scale.ts';

const ERRAND = fileURLToPath(new URL('../../../../bin/errand', import.meta.url));
const HEAP = new URL('../../servers/heap.mjs', import.meta.url).href;
const ROWS = 500;
const TICK_MS = 100;
/** Changes of each row in a second: as in a busy installation, and the most. */
const RATES = [1, 10] as const;
const WARM_MS = 15_000;
/** What Ink writes before each frame. */
const FRAME = '\u001b[?2026h';

interface View {
  readonly child: ChildProcess;
  /** Of the program itself, behind the pseudo-terminal. */
  readonly pid: number;
  /** Collects garbage, and returns what is left on the heap. */
  heapMb(): Promise<number>;
  /** What was written since it was read last. */
  take(): { readonly bytes: number; readonly frames: number };
}

/** Watches both rates for `forMs` each. */
export async function measureView(scratch: string, forMs: number, say: (text: string) => void): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const rate of RATES) {
    say(`measuring errand office with ${ROWS} rows that change ${rate} times a second …`);
    const server = await startOfficeServer(aSnapshot(Array.from({ length: ROWS }, (_, at) => anEntity(at + 1))));
    const view = await open(server, scratch);
    const stop = change(server, rate);
    try {
      await pause(WARM_MS);
      Object.assign(figures, await watch(view, `view${rate}`, forMs));
    } finally {
      stop();
      view.child.kill('SIGKILL');
      await server.die();
    }
  }
  return figures;
}

/** Changes what each row shows, spread over the second. Returns what ends it. */
function change(server: OfficeServer, rate: number): () => void {
  const perTick = (ROWS * rate * TICK_MS) / 1_000;
  let count = 0;
  const timer = setInterval(() => {
    for (let one = 0; one < perTick; one += 1) {
      count += 1;
      const input = { command: `python plot.py --part ${count}` };
      server.emit(anEvent(1 + (count % ROWS), 'tool_use', { tool_use_id: `c${count}`, name: 'shell', input }));
    }
  }, TICK_MS);
  return () => clearInterval(timer);
}

/** Starts the view on a pseudo-terminal of 160×50, and waits until it is live. */
async function open(server: OfficeServer, scratch: string): Promise<View> {
  const directory = mkdtempSync(join(scratch, 'view-'));
  const [keyFile, heapFile] = [join(directory, 'key'), join(directory, 'heap.json')];
  writeFileSync(keyFile, 'errand_key');
  const command = `stty cols 160 rows 50; exec ${ERRAND} office --url ${server.url()} --token-file ${keyFile} --tz UTC`;
  const child = spawn('script', ['-qfc', command, '/dev/null'], {
    env: {
      ...process.env,
      TERM: 'xterm-256color',
      COLORTERM: 'truecolor',
      NODE_ENV: 'production',
      NODE_OPTIONS: `--expose-gc --import=${HEAP}`,
      BENCH_HEAP_FILE: heapFile,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let [bytes, frames] = [0, 0];
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    frames += chunk.toString('latin1').split(FRAME).length - 1;
  });
  await waitFor(() => server.watchers() > 0, { what: 'the view to follow the installation' });
  const pid = leafOf(child.pid!);
  return {
    child,
    pid,
    heapMb: async () => {
      rmSync(heapFile, { force: true });
      process.kill(pid, 'SIGUSR2');
      const text = await waitFor(() => existsSync(heapFile) && readFileSync(heapFile, 'utf8').trim(), {
        what: 'the heap',
      });
      return (JSON.parse(text) as { heapMb: number }).heapMb;
    },
    take: () => {
      const taken = { bytes, frames };
      [bytes, frames] = [0, 0];
      return taken;
    },
  };
}

/** The last of a chain of processes. */
function leafOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return child === undefined ? pid : leafOf(child);
}

async function watch({ pid, heapMb, take }: View, name: string, forMs: number): Promise<Figures> {
  const heapBefore = await heapMb();
  take();
  const [cpu, startedAt] = [cpuMsOf(pid), performance.now()];
  await pause(forMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { bytes, frames } = take();
  const cpuMs = cpuMsOf(pid) - cpu;
  return {
    [`${name}CpuPercent`]: cpuMs / seconds / 10,
    [`${name}FramesPerSecond`]: frames / seconds,
    [`${name}KbPerSecond`]: bytes / 1_024 / seconds,
    [`${name}RssMb`]: memoryMbOf(pid, 'VmRSS'),
    [`${name}HeapBeforeMb`]: heapBefore,
    [`${name}HeapMb`]: await heapMb(),
  };
}
