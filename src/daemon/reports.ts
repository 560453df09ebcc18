// What the daemon reports about itself: readiness for machines, status for operators.
import { join } from 'node:path';
import type { SandboxProbe } from '../agent/sandbox/sandbox.ts';
import { definedBy } from '../catalog/defined.ts';
import type { Catalog } from '../catalog/kinds/models.ts';
import { formatProblem } from '../catalog/reading/problem.ts';
import type { BackupHealth } from '../backups/schedule.ts';
import type { Config } from '../config/config.ts';
import type { Defined, LostPins } from '../domain/capabilities/pin.ts';
import { wordsOfDifference } from '../domain/nodes/differences.ts';
import { type Clock, isoTime, isUnset, systemClock } from '../domain/clock.ts';
import type { BrowserPart } from '../execution/brief/browser-part.ts';
import type { UnusableTools } from '../execution/unusable-tools.ts';
import type { WorkerPool } from '../execution/pool/worker-pool.ts';
import type { WorkerNodes } from '../execution/queue/node.ts';
import type { Disk } from '../files/disk.ts';
import { type MovablePin, SHOWN_PINS, withCommands, wordsOfPins } from '../operations/capabilities/pins.ts';
import type { ConfigurationReport, PartReport, Readiness, StatusReport } from '../operations/status.ts';
import { incomingPath } from '../files/blobs/blob-place.ts';
import { adviceOnDescriptors } from '../files/descriptor-limit.ts';
import { makeWriteWatch, type WriteWatch } from '../files/blobs/write-watch.ts';
import type { Log } from '../log/log.ts';
import type { LiveCertificate } from '../config/live/live-certificate.ts';
import type { LiveConfig } from '../config/live/live-config.ts';
import { storeLocationOf } from '../config/store-location.ts';
import { readFigures } from '../store/inspection/figures.ts';
import type { EngineFigures } from '../store/engine/database.ts';
import { nameOfStore, type StoreLocation } from '../store/location.ts';
import type { Store } from '../store/open-store.ts';
import { VERSION } from '../version.ts';

export interface ReportParts {
  readonly config: Config;
  readonly live: LiveConfig;
  /** Null without TLS. */
  readonly certificate: Pick<LiveCertificate, 'part'> | null;
  readonly store: Store;
  readonly disk: Disk;
  readonly pool: WorkerPool;
  readonly node: Pick<WorkerNodes, 'list' | 'own' | 'silence'>;
  readonly sandbox: () => SandboxProbe;
  readonly browser: Pick<BrowserPart, 'state'>;
  readonly unusableTools: Pick<UnusableTools, 'wordsOn'>;
  readonly startedAt: number;
  readonly backups: { health(): BackupHealth | null };
  readonly files: WriteWatch;
  /** The bucket of files, and what is wrong with it, for administrators; null without one. */
  readonly bucket: { readonly name: string; fault(): string | null } | null;
  /** What is wrong with the audit log; null when nothing is. */
  auditFault(): string | null;
  /** What to do about a limit of open files that is too low; null when it isn't. */
  readonly descriptors: string | null;
  /** Null unless what a first start has created is still to be shown. */
  starting(): Promise<void> | null;
  closing(): boolean;
  readonly clock: Clock;
}

/** The machine's state: whether files can be written, and whether enough descriptors are available. */
export function watchMachine({ locations }: Config, log: Log): Pick<ReportParts, 'descriptors' | 'files'> {
  const descriptors = adviceOnDescriptors();
  if (descriptors !== null) log.warn(descriptors);
  return { descriptors, files: makeWriteWatch(incomingPath(join(locations.dataDir, 'blobs')), systemClock) };
}

/** How many webhooks that need someone are shown. */
const SHOWN_WEBHOOKS = 10;

/**
 * The reports. A daemon is ready unless a part has failed, which is while new turns are refused; a degraded part only
 * reduces what it can do (L8).
 */
export function makeReports(parts: ReportParts) {
  const { config, live, store, pool, node, startedAt, clock } = parts;
  const location = storeLocationOf(config);

  function readiness(): Readiness {
    const reports = [
      daemonPart(parts),
      nodePart(parts),
      storePart(parts),
      diskPart(parts),
      filesPart(parts),
      ...descriptorsPart(parts),
      ...clockPart(parts),
      sandboxPart(parts),
      browserPart(parts),
      configPart(parts),
      ...(parts.certificate === null ? [] : [parts.certificate.part()]),
      workersPart(parts),
      ...backupsPart(parts),
      ...auditPart(parts),
    ];
    return { ready: reports.every((part) => part.state !== 'failed'), parts: reports };
  }

  async function status(): Promise<StatusReport> {
    const { threads, busy } = pool.load();
    const { ready, parts: ofMachine } = readiness();
    return {
      ready,
      parts: [
        ...withWords(parts, ofMachine, withDatabase(location, await store.figures())),
        pinsPart(await lostPins(definedBy(live.catalog(), live.definitions()))),
        ...toolsPart(parts),
      ],
      version: VERSION,
      nodeVersion: process.versions.node,
      pid: process.pid,
      startedAt,
      uptimeSeconds: Math.floor((clock.now() - startedAt) / 1_000),
      listen: live.settings().listen,
      publicUrl: live.settings().publicUrl,
      dataDir: config.locations.dataDir,
      configDir: config.locations.configDir,
      runs: await store.runs.countUnfinished(),
      workers: { threads, slots: pool.slots(), busy },
      node: node.own(),
      nodes: node.list(),
      webhooks: await store.webhooks.trouble(SHOWN_WEBHOOKS),
      models: modelsOf(live.catalog()),
    };
  }

  const lostPins = async (defined: Defined) =>
    withCommands(await store.pins.lost(defined, clock.now(), SHOWN_PINS), defined);

  const configuration = async (): Promise<ConfigurationReport> => ({
    configDir: config.locations.configDir,
    problems: live.check(),
    pins: await lostPins(live.defined()),
    settings: live.describe(),
  });

  return { readiness, status, configuration, lostPins, database: () => readFigures(location) };
}

const modelsOf = ({ endpoints, models, scenarios, defaultScenario }: Catalog): StatusReport['models'] =>
  [...models.values()].map(({ name, endpoint }) => ({
    name,
    endpoint,
    kind: endpoints.get(endpoint)!.kind,
    default: scenarios.get(defaultScenario)?.model === name,
  }));

const ok = (name: string): PartReport => ({ name, state: 'ok', detail: null });

function daemonPart({ starting, closing }: ReportParts): PartReport {
  if (starting() !== null) return { name: 'daemon', state: 'failed', detail: 'starting' };
  return closing() ? { name: 'daemon', state: 'failed', detail: 'shutting down' } : ok('daemon');
}

function nodePart({ node }: ReportParts): PartReport {
  const { fault } = node.own();
  return fault === null ? ok('node') : { name: 'node', state: 'failed', detail: fault };
}

function storePart({ store, node }: ReportParts): PartReport {
  // One that nobody answers for has no error yet.
  const fault = store.fault() ?? node.silence();
  if (fault !== null) return { name: 'store', state: 'failed', detail: fault };
  const burden = store.burden();
  return burden === null ? ok('store') : { name: 'store', state: 'degraded', detail: burden };
}

/** What only administrators are told of the parts. */
const withWords = (parts: ReportParts, of: readonly PartReport[], database: ReturnType<typeof withDatabase>) =>
  of.map(database).map(withBucket(parts)).map(withDifferences(parts));

/** Names the server that has the rows, where there is one, and how busy the connections to it are. */
const withDatabase =
  (location: StoreLocation, { version, pool }: EngineFigures) =>
  (part: PartReport): PartReport => {
    if (part.name !== 'store' || part.detail !== null || pool === null) return part;
    const connections = `${pool.open} of ${pool.most} connections to read, ${pool.busy} busy, ${pool.waiting} wait`;
    return { ...part, detail: `${nameOfStore(location)}, version ${version}, ${connections}` };
  };

/** Names the bucket, and says what its service said: readiness is for everybody. */
const withBucket =
  ({ bucket }: ReportParts) =>
  (part: PartReport): PartReport => {
    if (part.name !== 'files' || bucket === null) return part;
    const details = [part.detail ?? bucket.name, bucket.fault()].filter((detail) => detail !== null);
    return { ...part, detail: details.join(': ') };
  };

/** Names the nodes that have another configuration than the rest. */
const withDifferences =
  ({ node }: ReportParts) =>
  (part: PartReport): PartReport => {
    if (part.name !== 'configuration') return part;
    const others = node.list().filter(({ differs }) => differs.length > 0);
    if (others.length === 0) return part;
    const details = [...(part.detail === null ? [] : [part.detail]), ...others.map(wordsOfDifference)];
    return { name: part.name, state: 'degraded', detail: details.join('; ') };
  };

function filesPart({ files, bucket }: ReportParts): PartReport {
  const fault = files.fault();
  if (fault === null && bucket !== null && bucket.fault() !== null)
    return { name: 'files', state: 'degraded', detail: 'the bucket of files cannot be reached, or refuses' };
  if (fault === null) return ok('files');
  return { name: 'files', state: 'degraded', detail: `attached files and artifacts cannot be stored (${fault})` };
}

function descriptorsPart({ descriptors }: ReportParts): PartReport[] {
  return descriptors === null ? [] : [{ name: 'descriptors', state: 'degraded', detail: descriptors }];
}

function clockPart({ clock }: ReportParts): PartReport[] {
  if (!isUnset(clock.now())) return [];
  return [{ name: 'clock', state: 'degraded', detail: `it is ${isoTime(clock.now())}: the clock was never set` }];
}

function diskPart({ disk }: ReportParts): PartReport {
  const shortage = disk.shortage();
  if (shortage === null) return ok('disk');
  return { name: 'disk', state: 'failed', detail: shortage.words };
}

function sandboxPart({ sandbox, live }: ReportParts): PartReport {
  if (!live.settings().shell.enabled) return { name: 'shell', state: 'ok', detail: 'switched off in the settings' };
  const found = sandbox();
  return found.ok ? ok('shell') : { name: 'shell', state: 'degraded', detail: found.why };
}

function browserPart({ browser }: ReportParts): PartReport {
  const state = browser.state();
  if (state === 'off') return { name: 'browser', state: 'ok', detail: 'switched off in the settings' };
  return state === 'ok' ? ok('browser') : { name: 'browser', state: 'degraded', detail: state.why };
}

function configPart({ live }: ReportParts): PartReport {
  const problems = live.problems();
  if (problems.length === 0) return ok('configuration');
  return { name: 'configuration', state: 'degraded', detail: problems.map(formatProblem).join('; ') };
}

/** A day, and time for the backup itself. */
const BACKUP_AGE_MS = 30 * 3_600_000;

function backupsPart({ backups, clock }: ReportParts): PartReport[] {
  const health = backups.health();
  if (health === null) return [];
  const { lastAt, failure } = health;
  const last = lastAt === null ? 'there is none' : `the last one is of ${isoTime(lastAt)}`;
  if (failure !== null) return [{ name: 'backups', state: 'degraded', detail: `${last}; the next failed: ${failure}` }];
  const isOld = lastAt === null || clock.now() - lastAt > BACKUP_AGE_MS;
  return [{ name: 'backups', state: isOld ? 'degraded' : 'ok', detail: last }];
}

/** How many of them are named beside the other parts; `errand doctor` names more. */
const PINS_ON_A_LINE = 3;

function pinsPart(lost: LostPins<MovablePin>): PartReport {
  if (lost.total === 0) return ok('pins');
  return { name: 'pins', state: 'degraded', detail: wordsOfPins(lost, PINS_ON_A_LINE) };
}

/** What MCP servers list that no agent can use; "tools" of a server in mcp-servers.yaml, without them, ends it. */
function toolsPart({ live, unusableTools }: ReportParts): PartReport[] {
  const words = unusableTools.wordsOn(live.definitions().mcpServers.keys());
  return words.length === 0 ? [] : [{ name: 'tools', state: 'degraded', detail: words.join('; ') }];
}

function auditPart({ auditFault }: ReportParts): PartReport[] {
  const fault = auditFault();
  return fault === null ? [] : [{ name: 'audit', state: 'degraded', detail: fault }];
}

function workersPart({ config }: ReportParts): PartReport {
  if (config.workers) return ok('workers');
  return { name: 'workers', state: 'degraded', detail: 'started with --no-workers: runs wait in the queue' };
}
