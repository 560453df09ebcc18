// A storm about several daemons that are one installation: on one PostgreSQL server and one bucket, behind a load balancer.
import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { databaseOf } from '../../../src/selftest/checks/journal-rows.ts';
import { orphans } from '../../../src/selftest/storm/storm.ts';
import type { NodeWire } from '../../../src/wire/nodes.ts';
import { type DaemonProcess, startDaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { ROLE } from '../../../test/support/postgres/cluster.ts';
import { startDelayingProxy } from '../../../test/support/postgres/delaying-proxy.ts';
import { makeOperator } from '../clients/operator.ts';
import { daemonOptions } from '../scene.ts';
import { holdLocks } from '../storm/faults.ts';
import { DATABASE, startPostgresEngine } from '../storm/engine.ts';
import type { Storm, StormRequest, Subject } from '../subject.ts';
import { noteAttempts, readAttempts } from './attempts.ts';
import { startBalancer } from './balancer.ts';
import { startBucket } from './bucket.ts';
import { calmDown } from './calm.ts';
import { makeNodesDiary, type NodesDiary } from './diary.ts';
import { checkNodes } from './left.ts';
import { type ChaosNode, keepNode } from './node.ts';
import type { Parts } from './parts.ts';
import { rowsOf, timelineOf } from './report.ts';
import { watchStalls } from './stalls.ts';
import { blowOver } from './storm.ts';

interface InstallationRequest {
  readonly modelUrl: string;
  readonly scratch: string;
  readonly count: number;
  say(words: string): void;
}

const NAMES = ['north', 'south', 'east', 'west'];
const WORKERS = '{ threads: 1, runs_per_thread: 4 }';
/** Between two locks of a table, which every node waits for. */
const BETWEEN_LOCKS_MS = { least: 8_000, most: 25_000 } as const;

/** Starts everything. `count`: of nodes, four at most. */
export async function startInstallation(request: InstallationRequest): Promise<Subject> {
  const { modelUrl, scratch, count, say } = request;
  if (count > NAMES.length) throw new Error(`--nodes is ${NAMES.length} at most.`);
  const engine = await startPostgresEngine();
  const bucket = await startBucket(scratch);
  const options = await daemonOptions(modelUrl, scratch, WORKERS);
  const nodes: ChaosNode[] = [];
  for (const name of NAMES.slice(0, count)) {
    const wire = await startDelayingProxy(engine.cluster.directory, 0);
    const first = nodes[0]?.daemon;
    const daemon = await startDaemonProcess({
      ...options,
      errandYaml: `node: { name: ${name} }\nblobs: { s3: ${JSON.stringify(bucket.settings)} }\n${options.errandYaml}`,
      database: `postgres://${ROLE}@127.0.0.1:${wire.port}/${DATABASE}?sslmode=disable`,
      within: scratch,
      ...(first !== undefined && { joins: first }),
    });
    nodes.push(keepNode({ name, id: await idOf(daemon), daemon, wire, say }));
  }
  await noteAttempts(engine.cluster);
  const balancer = await startBalancer(nodes.map(({ daemon }) => daemon.url));
  const dataDir = join(scratch, 'rows');
  await mkdir(dataDir);
  return makeSubject({ engine, bucket, balancer, nodes, dataDir, apiKey: nodes[0]!.daemon.apiKey });
}

async function idOf(daemon: DaemonProcess): Promise<string> {
  const { items } = (await daemon.admin('GET', '/api/v1/nodes')) as { items: NodeWire[] };
  return items.find((node) => node.this)!.id;
}

function makeSubject(parts: Parts): Subject {
  const { engine, bucket, balancer, nodes, dataDir, apiKey } = parts;
  const operator = makeOperator({ url: balancer.url, apiKey });
  let diary: NodesDiary | undefined;
  let timeline = '';
  const look = () => engine.look({ dataDir });

  async function blow({ kills, seed, report }: StormRequest): Promise<Storm> {
    const locks = holdLocks(engine, { dataDir }, seed, BETWEEN_LOCKS_MS);
    const watched = watchStalls();
    const blown = await blowOver({ nodes, cluster: engine.cluster, bucket, operator }, { count: kills, seed, report });
    watched.stop();
    const held = await locks.stop();
    timeline = timelineOf(nodes, blown, [...held, ...watched.stalls]);
    const attempts = await readAttempts(engine.cluster);
    diary = makeNodesDiary({ ...blown, nodes, attempts, locks: held, stalls: watched.stalls });
    return {
      diary,
      startsMs: nodes.flatMap(({ startsMs }) => startsMs),
      problems: [...blown.strikes.flatMap(wordsOf), ...nodes.flatMap((node) => node.problems)],
      orphans: new Set(nodes.flatMap((node) => [...node.orphans])),
      rows: rowsOf(parts, blown, attempts),
    };
  }

  return {
    url: balancer.url,
    apiKey,
    admin: (method, path, body) => operator.ask(method, path, { ...(body && { body }), expected: [200, 201, 202] }),
    dataDir,
    look,
    blow,
    calm: () => calmDown(parts, operator),
    stop: async (marker, known) => {
      const exits = await Promise.all(nodes.map(async (node) => ({ node, exit: await node.stop() })));
      await look();
      const left = await Promise.all(nodes.map(({ daemon }) => orphans(daemon.dataDir, marker, known)));
      return [
        ...exits.flatMap(({ node, exit }) =>
          exit.code === 0 ? [] : [`the clean stop of ${node.name} ended with ${exit.signal ?? exit.code}`],
        ),
        ...left.flat(),
      ];
    },
    checkLeft: () => checkNodes(parts, diary!, databaseOf({ dataDir })),
    places: () => ({
      dataDirs: nodes.map(({ daemon }) => daemon.dataDir),
      workspacesOf: (id) => (nodes.find((node) => node.id === id) ?? nodes[0]!).daemon.dataDir,
      listFiles: bucket.listFiles,
      readFile: bucket.readFile,
      mayLose: ({ node_id, finished_at }) => diary!.mayLoseFiles(node_id ?? '', finished_at ?? 0),
    }),
    close: async (isKept) => {
      for (const node of nodes) await node.stop('SIGKILL');
      if (!isKept) for (const { daemon } of nodes) await daemon.close();
      await balancer.close();
      await bucket.close();
      for (const { wire } of nodes) await wire.close();
      const server = await engine.close(isKept);
      return isKept ? [...nodes.map(({ daemon }) => daemon.dataDir), ...(server === null ? [] : [server])] : [];
    },
    logs: () => ({ timeline, ...Object.fromEntries(nodes.map(({ name, daemon }) => [name, daemon.stderr()])) }),
  };
}

const wordsOf = ({ node, kind, from, problems }: Awaited<ReturnType<typeof blowOver>>['strikes'][number]) =>
  problems.map((words) => `${node.name}, ${kind} at ${new Date(from).toISOString()}: ${words}`);
