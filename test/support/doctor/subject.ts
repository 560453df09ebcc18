// An installation to examine: a real directory, and everything else as a test wants it.
import { chmodSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../../../src/operations/doctor.ts';
import { CHECKS } from '../../../src/doctor/examine.ts';
import { SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import type { Scan } from '../../../src/doctor/scan.ts';
import type { Subject } from '../../../src/doctor/subject.ts';
import { temporaryDirectory } from '../files/temporary-directory.ts';
import { SETTINGS } from '../http/http-fixture.ts';
import { fakeClock } from '../time/fake-clock.ts';

/** What a look sees where all is well. */
export const WELL: Scan & { readonly ok: true } = {
  ok: true,
  database: {
    schemaVersion: SCHEMA_VERSION,
    isUsable: true,
    ownVersion: SCHEMA_VERSION,
    figures: {
      engine: 'sqlite',
      version: '3.50.0',
      bytes: 4_096_000,
      pageBytes: 4_096,
      freeBytes: 40_960,
      shrinks: true,
      logBytes: 0,
      pool: null,
      replicas: [],
    },
    server: null,
    faults: [],
    newestEventAt: null,
    stuck: [],
    webhooks: [],
    pins: { pins: [], total: 0 },
    audit: { fault: null, isAnchorDue: false },
    masterKeyId: null,
  },
  blobs: { named: 3, missing: 0, wrong: 0, examples: [], isWhole: true, bucket: null, sample: [] },
  orphans: { blobs: 0, bytes: 0, workspaces: 0, examples: [], isWhole: true },
};

/** An installation in which all is well, but for what a test changes. */
export function aSubject(changes: Partial<Subject> = {}): Subject {
  const dataDir = temporaryDirectory({ 'errand.db': '', 'master.key': 'k'.repeat(32), 'config/errand.yaml': '' });
  for (const [name, mode] of [
    ['', 0o700],
    ['errand.db', 0o600],
    ['master.key', 0o600],
  ] as const)
    chmodSync(path.join(dataDir, name), mode);
  return {
    locations: {
      dataDir,
      configDir: path.join(dataDir, 'config'),
      masterKeyPath: path.join(dataDir, 'master.key'),
      isService: true,
      isNamed: true,
    } as Subject['locations'],
    store: () => ({ kind: 'sqlite', file: path.join(dataDir, 'errand.db') }),
    settings: () => ({ ...SETTINGS, disk: { keepFreeMb: 0 } }),
    catalog: () => ({ endpoints: new Map(), models: new Map(), scenarios: new Map(), defaultScenario: '' }),
    defined: () => ({ model: new Set(), scenario: new Set(), expert: new Set(), team: new Set() }),
    problems: () => [],
    sandbox: async () => ({ ok: true, grant: { bwrap: '/usr/bin/bwrap', groups: null } as never }),
    diskSamples: async () => [],
    daemon: { state: 'stopped' },
    isHeld: () => false,
    unresolved: new Set(),
    clock: fakeClock(),
    anchor: { kind: 'seen', anchor: { end: { id: 7, hash: 'a'.repeat(64) }, doubt: null }, isSealVerified: true },
    request: { egress: false, full: false },
    scan: async () => WELL,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** Makes one check. */
export async function examined(id: string, subject: Subject): Promise<Finding> {
  const { title, examine } = CHECKS.find((check) => check.id === id)!;
  return { id, title, ...(await examine(subject)) };
}
