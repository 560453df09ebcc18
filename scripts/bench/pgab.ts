import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { startDaemonProcess } from '../../test/support/daemon/daemon-process.ts';
import { closedLoop, pause, quantile } from './load.ts';
import { startModel } from './servers/start.ts';
const SHOTS: any = {
  answer: { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./, c: 32 },
  stream: { text: 'Tell it. [[deltas=20]]', stream: true, expect: /word19 [^]*\[DONE\]/, c: 32 },
  first: { text: 'Begin. [[deltas=5 stamp=1]]', stream: true, expect: /;word4 [^]*\[DONE\]/, c: 1 },
  reads4: { text: 'Look. [[lists=4]] [[text=All is seen.]]', stream: false, expect: /All is seen\./, c: 32 },
  writes: { text: 'Work. [[tools=2 note=#]] [[text=Both are written.]]', stream: false, expect: /Both are written\./, c: 16 },
};
function runCpu(pid: number): number { let ns = 0; for (const t of readdirSync(`/proc/${pid}/task`)) ns += Number(readFileSync(`/proc/${pid}/task/${t}/schedstat`, 'utf8').split(' ')[0]); return ns / 1e6; }
function pgCpu(): number { let ms = 0; for (const p of execFileSync('pgrep', ['-x', 'postgres'], { encoding: 'utf8' }).trim().split('\n')) { try { ms += Number(readFileSync(`/proc/${p}/schedstat`, 'utf8').split(' ')[0]) / 1e6; } catch {} } return ms; }
const psql = (sql: string, db = 'postgres') => execFileSync('psql', ['-h', '/tmp/pgdata', '-U', 'postgres', '-At', db, '-c', sql], { encoding: 'utf8' }).trim();
const [engines, shots, rounds] = process.argv.slice(2) as string[];
const scratch = mkdtempSync('/tmp/ab-');
const model = await startModel(scratch);
const modelUrl = new URL(model.target.url).origin;
const lanes: any[] = [];
for (const e of engines!.split(',')) {
  let env: any = {};
  if (e !== 'sqlite') { const db = `b_${e}_${process.pid}`; psql(`create database ${db}`); const host = e === 'far' ? '127.0.0.1:5499' : ''; process.env['TRY_PG'] = env.TRY_PG = host ? `postgres://postgres@${host}/${db}?sslmode=disable` : `postgres://postgres@/${db}?host=/tmp/pgdata`; } else delete process.env['TRY_PG'];
  if (process.env['PROF']) { rmSync(process.env['PROF'] + e, { recursive: true, force: true }); env.NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${process.env['PROF']}${e} --cpu-prof-interval=250`; }
  const d = await startDaemonProcess({ modelServerUrl: modelUrl, env });
  lanes.push({ e, d, db: env.TRY_PG?.match(/\/(b_[^?]*)/)?.[1], target: { name: e, url: `${d.url}/openapi/v1/chat/completions`, headers: { authorization: `Bearer ${d.apiKey}` } } });
}
const med = (x: number[]) => [...x].sort((p, q) => p - q)[Math.floor(x.length / 2)]!;
for (const name of shots!.split(',')) {
  const shot = SHOTS[name];
  for (const l of lanes) { l.r = []; l.pg = []; l.ms = []; l.runs = 0; l.x = 0; await closedLoop(l.target, shot, shot.c, { forMs: 3000 }); }
  for (let i = 0; i < Number(rounds); i++) for (const l of i % 2 ? lanes.toReversed() : lanes) {
    await pause(300);
    const [a, p, x] = [runCpu(l.d.pid()), pgCpu(), l.db ? Number(psql(`select xact_commit from pg_stat_database where datname='${l.db}'`)) : 0];
    const v = await closedLoop(l.target, shot, shot.c, { forMs: 2500 });
    await pause(300);
    if (v.failures.length) console.error(v.failures.length, 'failures', v.failures[0]);
    l.runs += v.results.length; l.ms.push(...v.results.map((r: any) => name === 'first' ? r.firstTextMs : r.totalMs));
    l.r.push((runCpu(l.d.pid()) - a) / v.results.length); l.pg.push((pgCpu() - p) / v.results.length);
    if (l.db) l.x += Number(psql(`select xact_commit from pg_stat_database where datname='${l.db}'`)) - x;
  }
  for (const l of lanes) console.log(name.padEnd(7), l.e.padEnd(7), 'daemon', med(l.r).toFixed(2), 'pg', med(l.pg).toFixed(2), 'p50', quantile(l.ms, 0.5).toFixed(1), 'p99', quantile(l.ms, 0.99).toFixed(1), 'runs', l.runs, 'xacts/run', (l.x / l.runs).toFixed(1));
}
for (const l of lanes) { await l.d.stop(); if (process.env['SHOW']) console.log(l.d.stderr().slice(-3000)); await l.d.close(); if (l.db) psql(`drop database ${l.db} with (force)`); }
await model.close(); rmSync(scratch, { recursive: true });
