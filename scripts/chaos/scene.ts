// What a storm needs before it begins: a model server, a daemon that can be poisoned, and the keys of its clients.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type DaemonProcess, startDaemonProcess } from '../../test/support/daemon/daemon-process.ts';
import type { ApiTarget } from './clients/exchange.ts';
import type { Asked } from './subject.ts';
import { RUN_LIMIT_SECONDS } from './storm/faults.ts';

const errandYaml = (workers: string) =>
  [
    `workers: ${workers}`,
    'streams: { drain_seconds: 5 }',
    'background: { max_executing_per_key: 4 }',
    `model: { run_timeout_seconds: ${RUN_LIMIT_SECONDS} }`,
    'log: { level: warn }',
    'egress: { allow: [{ cidr: 127.0.0.1/32, for: [webhook] }] }',
    '',
  ].join('\n');

function modelsYaml(url: string): string {
  const limits = 'context_window: 1000000, max_output_tokens: 4096';
  return [
    'endpoints:',
    `  first: { kind: openai, base_url: "${url}/v1", max_in_flight: 4 }`,
    `  second: { kind: anthropic, base_url: "${url}/v1" }`,
    'models:',
    `  one: { endpoint: first, model: one, ${limits} }`,
    `  two: { endpoint: second, model: two, ${limits} }`,
    'scenarios:',
    '  general: { model: one }',
    'default_scenario: general',
    '',
  ].join('\n');
}

/** Starts the model server in its own process; it derives its replies from the rules. */
export async function startModel(rules: string, audit: string): Promise<{ url: string; close(): Promise<void> }> {
  const script = fileURLToPath(new URL('./model/model-main.ts', import.meta.url));
  const args = [script, '--rules', rules, '--audit', audit];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error('The model server ended before it was ready.'))),
  ])) as [string];
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** What daemons are started with whose threads die of a poisoned answer, and of nothing else. */
export async function daemonOptions(modelUrl: string, scratch: string, workers: string) {
  const faults = join(scratch, 'faults');
  await mkdir(faults);
  const preload = fileURLToPath(new URL('../../test/support/daemon/worker-fault.mjs', import.meta.url));
  return {
    modelsYaml: modelsYaml(modelUrl),
    errandYaml: errandYaml(workers),
    env: { NODE_OPTIONS: `--import=${preload}`, TEST_WORKER_FAULTS: faults },
  };
}

/** Starts the one daemon. */
export async function startDaemon(modelUrl: string, scratch: string, database?: string): Promise<DaemonProcess> {
  const options = await daemonOptions(modelUrl, scratch, '{ threads: 2, runs_per_thread: 5 }');
  return startDaemonProcess({ ...options, ...(database !== undefined && { database }) });
}

/** Two people with two keys each: one for each kind of endpoint. */
export async function openTargets(daemon: Asked): Promise<ApiTarget[]> {
  const targets: ApiTarget[] = [];
  for (const username of ['ada', 'ben']) {
    await daemon.admin('POST', '/api/v1/users', { username });
    for (const model of ['one', 'two']) {
      const made = await daemon.admin('POST', '/api/v1/keys', { user: username, scope: 'conversation', model });
      targets.push({ url: daemon.url, key: (made as { key: string }).key });
    }
  }
  return targets;
}
