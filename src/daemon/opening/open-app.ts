// The app that answers requests: every verb, the reports, and the tails of runs, wired together.
import type { SandboxProbe } from '../../agent/sandbox/sandbox.ts';
import type { Config } from '../../config/config.ts';
import type { LiveCertificate } from '../../config/live/live-certificate.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import { toolNamesFor } from '../../agent/tools/tool-names.ts';
import { makeEquip } from '../../execution/brief/equip.ts';
import { makeSlices } from '../../domain/loop/slices.ts';
import type { Bus } from '../../events/bus.ts';
import { makeOfficeFeed } from '../../events/office-feed.ts';
import { makeEventScopes } from '../../events/event-scopes.ts';
import { makeSessionFeeds } from '../../events/session-feeds.ts';
import { makeArrivals } from '../../events/arrivals.ts';
import { makeTails } from '../../events/tail.ts';
import type { SchemaCheck } from '../../execution/checks/schema-check.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { Disk } from '../../files/disk.ts';
import { makeFileAddresses } from '../../files/file-address.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { SecretBox } from '../../files/secret-box.ts';
import { type HttpApp, type HttpParts, makeHttpApp } from '../../http/app.ts';
import type { Log } from '../../log/log.ts';
import { makeOperations } from '../../operations/operations.ts';
import type { AnchorKeeper } from '../../operations/audit/keep-anchor.ts';
import type { Doctor } from '../../operations/doctor.ts';
import type { Readiness } from '../../operations/status.ts';
import type { Store } from '../../store/open-store.ts';
import type { MetricHooks } from '../../telemetry/metrics/metrics.ts';
import type { openBackups } from './open-backups.ts';
import type { OpenedBucket } from './open-bucket.ts';
import type { Engine } from '../engine.ts';
import { storeLocationOf } from '../../config/store-location.ts';
import { definedBy } from '../../catalog/defined.ts';
import { makeDoctor } from '../../doctor/examine.ts';
import { makeReports, watchMachine } from '../reports.ts';
import { daemonClock as clock } from '../daemon-clock.ts';

export interface OpenAppParts {
  readonly config: Config;
  readonly live: LiveConfig;
  /** Null without TLS. */
  readonly certificate: LiveCertificate | null;
  readonly log: Log;
  readonly store: Store;
  readonly bus: Bus;
  readonly blobs: BlobStore;
  /** Null where blobs are in the data directory. */
  readonly bucket: Pick<OpenedBucket, 'fault' | 'name'> | null;
  readonly disk: Disk;
  readonly openSpool: HttpParts['openSpool'];
  readonly deriveKey: DeriveKey;
  readonly anchor: AnchorKeeper;
  readonly secrets: SecretBox;
  readonly sandbox: () => SandboxProbe;
  readonly schemas: SchemaCheck;
  readonly renderer: HttpParts['renderer'];
  readonly rooms: Engine['rooms'];
  readonly hooks: MetricHooks | null;
  readonly backups: ReturnType<typeof openBackups>;
  readonly traceParentOf: HttpParts['traceParentOf'];
  readonly startedAt: number;
  readonly starting: HttpParts['starting'];
  /** Aborts when new turns are refused. */
  readonly closing: AbortSignal;
  /** Aborts when waiting requests must end. */
  readonly draining: AbortSignal;
}

/** Makes the app, which a server opens to requests, and the report of its readiness. */
export function openApp(parts: OpenAppParts): { readonly app: HttpApp; readonly readiness: () => Readiness } {
  const { config, live, log, store, bus, blobs, disk, openSpool, deriveKey, secrets } = parts;
  const { schemas, renderer, starting, draining } = parts;
  const { queue, node, stopper, broker, checks, emptyArchives, webhooks, publishing } = parts.rooms;
  const { collector, retention } = parts.rooms;
  const { settings, catalog, definitions, lookUp } = live;
  const configured = { settings, catalog, definitions, lookUp };
  const tails = makeTails({ bus, events: store.events });
  const scopes = makeEventScopes(store.events);
  const closing = () => parts.closing.aborted;
  const reports = openReports(parts, closing);
  const doctor = openDoctor(parts, () => reports.readiness().parts);
  const slices = makeSlices(clock);
  const operations = makeOperations({
    store,
    blobs,
    disk,
    fileAddresses: makeFileAddresses({ deriveKey, now: clock.now }),
    emptyArchives,
    collector,
    tails,
    arrivals: makeArrivals({ bus, clock }),
    feeds: makeSessionFeeds({ bus, events: store.events, scopes }),
    floor: makeOfficeFeed({ bus, scopes, clock }),
    queue,
    node,
    stopper,
    schemas,
    clock,
    slices,
    log,
    deriveKey,
    anchor: parts.anchor,
    secrets,
    locations: config.locations,
    equip: equipToday(parts),
    broker,
    checks,
    retention,
    webhooks,
    publishing,
    happened: parts.rooms.happened,
    backups: parts.backups,
    ...configured,
    problems: { ofFiles: live.checkDefinitions, inEffect: live.problems },
    reports,
    doctor,
    closing,
    draining,
  });
  const { readiness } = reports;
  const forHttp = { operations, tail: tails, settings, clock, slices, log, openSpool, draining, readiness, renderer };
  const { traceParentOf, hooks } = parts;
  const isPublicUrlSet = () => live.isSet('public_url');
  return {
    app: makeHttpApp({ ...forHttp, starting, isPublicUrlSet, traceParentOf, requestEnded: hooks?.requestEnded }),
    readiness,
  };
}

/** What the daemon reports of itself. */
function openReports(parts: OpenAppParts, closing: () => boolean) {
  const { config, live, certificate, log, store, disk, sandbox, backups, anchor, startedAt, starting, rooms } = parts;
  const { pool, node, browser, unusableTools } = rooms;
  const watched = { disk, sandbox, browser, backups, auditFault: anchor.fault, bucket: parts.bucket };
  const machine = { ...watched, starting, ...watchMachine(config, log) };
  return makeReports({
    config,
    live,
    certificate,
    store,
    pool,
    node,
    unusableTools,
    startedAt,
    closing,
    clock,
    ...machine,
  });
}

/** What an agent would get today. */
function equipToday({
  config,
  live,
  log,
  store,
  sandbox,
  rooms,
}: OpenAppParts): Parameters<typeof makeOperations>[0]['equip'] {
  const { definitions, catalog, settings } = live;
  const equip = makeEquip({
    store,
    log,
    locations: config.locations,
    definitions,
    catalog,
    lookUp: live.lookUp,
    browser: rooms.browser.grant,
  });
  return (run) => equip(run, toolNamesFor({ sandbox: settings().shell.enabled && sandbox().ok }));
}

/** The doctor of the running daemon, which ends with it. */
function openDoctor(
  { config, live, sandbox, store, blobs, draining, rooms }: OpenAppParts,
  parts: () => Readiness['parts'],
): Doctor {
  const doctor = makeDoctor({
    locations: config.locations,
    store: () => storeLocationOf(config),
    settings: live.settings,
    catalog: live.catalog,
    defined: () => definedBy(live.catalog(), live.definitions()),
    problems: live.check,
    sandbox: async () => sandbox(),
    diskSamples: (node = rooms.node.id) => store.diskSamples.list(node),
    daemon: { state: 'running', parts, nodes: rooms.node.list },
    isHeld: blobs.isHeld,
    unresolved: new Set(),
    clock,
  });
  draining.addEventListener('abort', () => void doctor.stop());
  return doctor;
}
