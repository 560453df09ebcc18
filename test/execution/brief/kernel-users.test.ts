// Whose kernel user a run's commands have, and its files belong to.
import { expect, test } from 'vitest';
import { NO_EQUIPMENT, type SandboxGrant } from '../../../src/agent/port/grants.ts';
import { ownerFor, SANDBOX_OWNER } from '../../../src/agent/sandbox/users.ts';
import type { Owner } from '../../../src/disk/make-beneath.ts';
import { type BriefParts, makeBuildBrief } from '../../../src/execution/brief/brief.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { GIVEN } from './resolved-model.ts';

const grant = (owner: Owner | null): SandboxGrant => ({
  bwrap: '/usr/bin/bwrap',
  owner,
  groups: null,
  watches: 'limited',
  space: null,
  timeoutMs: 1_000,
  maxOutputBytes: 1_000,
  memoryBytes: 1_000,
  maxProcesses: 1,
});

async function briefFor(owner: Owner | null) {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const workspaces: BriefParts['workspaces'] = {
    owner,
    pathOf: () => temporaryDirectory(),
    placeUploads: async () => true,
  };
  const build = makeBuildBrief({
    store: fixture.store,
    workspaces,
    sandbox: () => grant(owner),
    documents: { textsOf: async () => ({}) },
    equip: async () => ({ ok: true, outfit: { instructions: '', tools: [], equipment: NO_EQUIPMENT } }),
    settings: () => SETTINGS,
  });
  return { run: run!, built: await build(run!, GIVEN) };
}

test('commands and files of a run are those of its user’s kernel user', async () => {
  const { run, built } = await briefFor(SANDBOX_OWNER);
  const owner = ownerFor(SANDBOX_OWNER, run.userSeq);
  expect(owner).not.toEqual(SANDBOX_OWNER);
  expect(built).toMatchObject({ ok: true, brief: { workspaceOwner: owner, sandbox: { owner } } });
});

test('and of the daemon’s own, where it has no users for commands', async () => {
  const { built } = await briefFor(null);
  expect(built).toMatchObject({ ok: true, brief: { workspaceOwner: null, sandbox: { owner: null } } });
});
