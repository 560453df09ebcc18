// A tenant who does little: it sends small requests at a steady pace, whether or not earlier ones have their replies, and measures each.
// Forked with a channel: each message is a `TenantPlan`, and its answer a `TenantReport`. It ends with its parent.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { FloodRequest } from './flood.ts';

export interface TenantPlan {
  readonly url: string;
  /** Sent one after the other, over and over. */
  readonly requests: readonly FloodRequest[];
  readonly address: string;
  readonly everyMs: number;
  readonly count: number;
  /** The process that answers. */
  readonly serverPid: number;
}

/** What a request took, and how much of it the main threads of server and tenant waited for a processor, in milliseconds. */
export interface TenantHit {
  readonly kind: string;
  readonly tookMs: number;
  readonly waitedMs: number;
}

export interface TenantReport {
  readonly hits: readonly TenantHit[];
  readonly failures: readonly string[];
}

/** How long the main thread of a process has waited for a processor so far, in milliseconds. */
const runDelayMs = (pid: number | 'self'): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;

const agent = new Agent({ keepAlive: true });

function send({ url, address }: TenantPlan, { method, path, key, body }: FloodRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const asked = request(url + path, { method, headers, agent, localAddress: address }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

async function work(plan: TenantPlan): Promise<TenantReport> {
  const { requests, everyMs, count, serverPid } = plan;
  const hits: TenantHit[] = [];
  const failures: string[] = [];
  const waitedMs = () => runDelayMs(serverPid) + runDelayMs('self');

  async function measure(request: FloodRequest): Promise<void> {
    const [startedAt, waitedBefore] = [performance.now(), waitedMs()];
    const status = await send(plan, request).catch(String);
    const hit = { kind: request.kind, tookMs: performance.now() - startedAt, waitedMs: waitedMs() - waitedBefore };
    if (status === 200) hits.push(hit);
    else failures.push(`${request.kind}: ${status}`);
  }

  const startedAt = performance.now();
  const measured: Promise<void>[] = [];
  for (let number = 0; number < count; number += 1) {
    await pause(Math.max(0, startedAt + number * everyMs - performance.now()));
    measured.push(measure(requests[number % requests.length]!));
  }
  await Promise.all(measured);
  return { hits, failures };
}

process.on('message', (plan: TenantPlan) => void work(plan).then((report) => process.send!(report)));
process.once('disconnect', () => process.exit());
