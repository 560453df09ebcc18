// Kills daemons under load repeatedly, and then proves that nothing was lost, duplicated or left behind. `npm run chaos --
// [--kills 200] [--seed N] [--quick] [--postgres]` for one, `-- --background 500` for that many background submissions with kills
// around them, or `-- --nodes 3 [--kills 100]` for so many faults of daemons that are one installation; ends with 1 and keeps all
// files when a promise is broken.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { probeSandbox } from '../../src/agent/sandbox/sandbox.ts';
import { databaseOf, readStoredFacts } from '../../src/selftest/checks/journal-rows.ts';
import { checkAll } from './checks/all.ts';
import { readResults } from './checks/results.ts';
import { renderSubmissions } from './clients/background.ts';
import type { AuditLine } from './model/audit.ts';
import type { PlanRules } from './model/plan.ts';
import { startInstallation } from './nodes/installation.ts';
import { renderStorm } from './report.ts';
import { startDaemon, startModel } from './scene.ts';
import { sqliteEngine, startPostgresEngine } from './storm/engine.ts';
import { makeOneDaemon } from './storm/one-daemon.ts';
import type { Subject } from './subject.ts';
import { type Storming, weather, weatherBackground } from './weather.ts';

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    quick: { type: 'boolean', default: false },
    background: { type: 'string', default: '0' },
    postgres: { type: 'boolean', default: false },
    nodes: { type: 'string', default: '1' },
  },
});

/** Clients of one daemon, and of each of several. */
const PEOPLE = { ofOne: 6, ofEach: 3 } as const;
const MOST_PROBLEMS_SHOWN = 40;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function readAudit(file: string): Promise<AuditLine[]> {
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine);
}

async function canShell(): Promise<boolean> {
  const limits = { timeoutMs: 10_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 30, maxProcesses: 64 };
  const found = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...limits });
  if (!found.ok) say(`NO SHELL CALLS, so that a doubled execution cannot be seen: ${found.why}`);
  return found.ok;
}

async function startSubject(modelUrl: string, scratch: string, nodes: number): Promise<Subject> {
  if (nodes > 1) return startInstallation({ modelUrl, scratch, count: nodes, say });
  const engine = options.postgres ? await startPostgresEngine() : sqliteEngine;
  return makeOneDaemon(engine, await startDaemon(modelUrl, scratch, engine.database));
}

async function run(scratch: string): Promise<boolean> {
  const kills = options.quick ? 10 : Number(options.kills);
  const [seed, nodes, background] = [options.seed, options.nodes, options.background].map(Number) as [
    number,
    number,
    number,
  ];
  if (nodes > 1 && background > 0) throw new Error('--background is for one daemon.');
  const marker = String(process.pid).padStart(7, '0') + String(Date.now() % 1_000_000).padStart(6, '0');
  const rules: PlanRules = { seed, marker, shell: await canShell() };
  const [audit, rulesFile] = [join(scratch, 'audit.jsonl'), join(scratch, 'rules.json')];
  await writeFile(rulesFile, JSON.stringify(rules));
  const model = await startModel(rulesFile, audit);
  const subject = await startSubject(model.url, scratch, nodes);
  const people = nodes > 1 ? PEOPLE.ofEach * nodes : PEOPLE.ofOne;
  const storming: Storming = { subject, rules, kills, background, people, say };
  let problems: readonly string[] = [];
  try {
    const weathered = await (background > 0 ? weatherBackground(storming) : weather(storming));
    await model.close();
    const checkedAt = performance.now();
    const facts = readStoredFacts(databaseOf(subject));
    const lines = await readAudit(audit);
    problems = await checkAll(storming, weathered, facts, lines);
    const checkMs = performance.now() - checkedAt;
    say('');
    const figures = { rules, ...weathered, ...readResults(databaseOf(subject)), checkMs, modelCalls: lines.length };
    process.stdout.write(`${renderStorm(figures, weathered.observations, facts)}\n`);
    if (weathered.submissions !== null) process.stdout.write(`${renderSubmissions(weathered.submissions)}\n`);
  } catch (error) {
    problems = [error instanceof Error ? String(error.stack) : String(error)];
  }
  return conclude(problems, subject, scratch);
}

/** Says what became of it. */
async function conclude(problems: readonly string[], subject: Subject, scratch: string): Promise<boolean> {
  const isKept = problems.length > 0;
  const places = await subject.close(isKept);
  if (!isKept) {
    say('Every promise was kept.');
    return true;
  }
  for (const [name, text] of Object.entries(subject.logs())) await writeFile(join(scratch, `${name}.log`), text);
  await writeFile(join(scratch, 'problems.txt'), `${problems.join('\n')}\n`);
  say(`${problems.length} promises were broken:`);
  for (const problem of problems.slice(0, MOST_PROBLEMS_SHOWN)) say(`- ${problem}`);
  say(`What is left is kept: ${places.join(', ')}; logs and the model's audit: ${scratch}`);
  return false;
}

const scratch = await mkdtemp(join(tmpdir(), 'errand-chaos-'));
const kept = await run(scratch);
if (kept) await rm(scratch, { recursive: true, force: true });
process.exit(kept ? 0 : 1);
