// Examines an installation: every check in its order, each with a deadline and alone in its failure.
import path from 'node:path';
import { ErrandError, messageOf } from '../domain/errors.ts';
import { hasBucket } from '../config/blob-target.ts';
import { readNodeId } from '../files/node-id.ts';
import type { AnchoringNode } from '../store/audit/anchored.ts';
import { ORPHAN_AGE_MS } from '../files/orphans.ts';
import type { Doctor, ExaminationRequest, Finding } from '../operations/doctor.ts';
import type { Check, CheckResult } from './check.ts';
import { BUCKET_CHECKS } from './checks/bucket.ts';
import { DATA_CHECKS } from './checks/data.ts';
import { FILE_CHECKS } from './checks/files.ts';
import { MACHINE_CHECKS } from './checks/machine.ts';
import { REACH_CHECKS } from './checks/reach.ts';
import { SERVICE_CHECKS } from './checks/service.ts';
import { type Scan, makeScanner } from './scan.ts';
import { seeAnchor } from './seen-anchor.ts';
import { referenceOf } from '../store/location.ts';
import { engineIn, type Installation, type Subject } from './subject.ts';

/** In the order in which they are shown. Their ids stay the same; new ones are added where they belong. */
export const CHECKS: readonly Check[] = [
  ...SERVICE_CHECKS,
  ...FILE_CHECKS,
  ...MACHINE_CHECKS,
  ...DATA_CHECKS,
  ...BUCKET_CHECKS,
  ...REACH_CHECKS,
];

/** Silence of a run that is longer than any model or tool may take. */
const SILENCE_MS = 3_600_000;

/** Makes the doctor of an installation. `stop` ends an examination in progress. */
export function makeDoctor(installation: Installation): Doctor & { stop(): Promise<void> } {
  const { locations, clock } = installation;
  const scanner = makeScanner(clock);
  let isBusy = false;

  async function examine(request: ExaminationRequest, signal: AbortSignal): Promise<readonly Finding[]> {
    if (isBusy) throw new ErrandError('conflict', 'Another examination is in progress.');
    isBusy = true;
    try {
      const anchor = await seeAnchor(locations);
      const paths = {
        blobs: path.join(locations.dataDir, 'blobs'),
        workspaces: path.join(locations.dataDir, 'workspaces'),
        orphansBefore: clock.now() - ORPHAN_AGE_MS,
        silentSince: clock.now() - SILENCE_MS,
        full: request.full,
        defined: installation.defined(),
        now: clock.now(),
        auditEnd: anchor.kind === 'seen' ? anchor.anchor.end : null,
        node: nodeOf(installation),
      };
      let scan: Promise<Scan> | undefined;
      const subject: Subject = {
        ...installation,
        request,
        signal,
        anchor,
        scan: () =>
          (scan ??= scanOf(() => scanner.scan({ ...paths, store: referenceOf(installation.store()) }, signal))),
      };
      return await Promise.all(checksOf(installation).map((check) => perform(check, subject)));
    } finally {
      isBusy = false;
    }
  }

  return { examine, stop: scanner.stop };
}

/** Without an id, no daemon has run there. */
function nodeOf(installation: Installation): AnchoringNode {
  const hasPeers = engineIn(installation) === 'postgres' && hasBucket(installation.settings());
  return { id: idIn(installation.locations.dataDir), hasPeers };
}

function idIn(dataDir: string): string {
  try {
    return readNodeId(dataDir) ?? '';
  } catch {
    return '';
  }
}

/** Those that concern its database. */
function checksOf(installation: Installation): readonly Check[] {
  const kind = engineIn(installation);
  return CHECKS.filter(({ engine = kind }) => engine === kind);
}

/** Why nothing can be seen is a finding, too. */
async function scanOf(scan: () => Promise<Scan>): Promise<Scan> {
  try {
    return await scan();
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

async function perform({ id, title, examine }: Check, subject: Subject): Promise<Finding> {
  let found: CheckResult;
  try {
    found = await examine(subject);
  } catch (error) {
    found = { state: 'failed', evidence: `this could not be examined: ${messageOf(error)}`, remedy: null };
  }
  return { id, title, ...found };
}
