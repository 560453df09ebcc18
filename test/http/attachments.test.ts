// Attachments that are meant to do harm, from the request to the workspace: refused by name, or kept under a safe one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NO_DEFINITIONS } from '../../src/catalog/definitions.ts';
import { lookUpNow } from '../../src/domain/capabilities/look-up.ts';
import type { Run } from '../../src/domain/sessions/run.ts';
import type { KeyCaller } from '../../src/domain/people/user.ts';
import { openBlobStore } from '../../src/files/blobs/blobs.ts';
import { makeWorkspaces } from '../../src/files/workspaces.ts';
import { makeAccess } from '../../src/operations/access.ts';
import { makeLog } from '../../src/log/log.ts';
import { makeAcceptTurn } from '../../src/operations/turns/accepting/accept-turn.ts';
import { makeSessionSetup } from '../../src/operations/turns/accepting/session-setup.ts';
import { openFixture, send, SETTINGS } from '../support/http/http-fixture.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

/** HTTP in front of the real acceptance, and the workspaces that uploads are placed in. */
async function openAttachmentFixture() {
  const stores = await storeFixture();
  const folder = temporaryDirectory();
  const blobs = await openBlobStore(join(folder, 'blobs'), stores.store.smallBlobs);
  const acceptTurn = makeAcceptTurn({
    store: stores.store,
    access: makeAccess(stores.store),
    disk: { shortage: () => null },
    blobs,
    queue: { admit: (accept) => accept(null) },
    node: { onlineCapacity: () => 5, allDrain: () => false, look: async () => undefined },
    schemas: { check: async () => null },
    settings: () => SETTINGS,
    fetchImages: async () => undefined,
    makeSetup: makeSessionSetup({ store: stores.store, definitions: () => NO_DEFINITIONS, lookUp: lookUpNow }),
    clock: stores.clock,
    log: makeLog({ level: 'fatal' }),
    closing: () => false,
  });
  const caller: KeyCaller = { kind: 'key', reach: 'key', user: stores.user, key: stores.key };
  const accepted: Run[] = [];
  const http = await openFixture({
    operations: {
      acceptTurn: async (_, input, asking) => {
        const turn = await acceptTurn(caller, input, asking);
        accepted.push(turn.run);
        return turn;
      },
      awaitResult: async (_, run) => ({ ...run, status: 'completed', answer: 'Seen.', stopReason: 'end_turn' }),
    },
  });
  const workspaces = makeWorkspaces({ directory: join(folder, 'workspaces'), blobs, owner: null });
  const post = (blocks: readonly object[]) =>
    send(http, {
      method: 'POST',
      path: '/openapi/v1/messages',
      as: 'conversation-key',
      body: { model: 'errand', messages: [{ role: 'user', content: blocks }] },
    });
  /** Lays the newest turn's attachments and answers every file below the workspaces' directory as `path: text`. */
  const lay = async () => {
    const run = accepted.at(-1)!;
    const { attachments } = await stores.store.turns.get(run.seq, 1);
    await workspaces.placeUploads(run.sessionId, attachments, { quotaBytes: 2 ** 30, hasBegun: false });
    const root = join(folder, 'workspaces');
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return `${path.slice(join(root, run.sessionId).length)}: ${readFileSync(path, 'utf8')}`;
      })
      .toSorted();
  };
  return { post, lay, accepted };
}

const file = (name: string | undefined, text: string) => ({
  type: 'file',
  ...(name === undefined ? {} : { file_name: name }),
  source: { type: 'base64', media_type: 'text/plain', data: Buffer.from(text).toString('base64') },
});

test('names that lead out of the folder, hide or turn around end as names of files in it', async () => {
  const { post, lay } = await openAttachmentFixture();
  const names = [
    '../../x',
    '/etc/passwd',
    '..\\..\\y.txt',
    '..',
    '.profile',
    'a\u202egnp.exe',
    `${'l'.repeat(250)}.txt`,
  ];
  expect((await post(names.map((name, index) => file(name, String(index))))).status).toBe(200);
  expect(await lay()).toEqual(
    [
      '/uploads/x: 0',
      '/uploads/passwd: 1',
      '/uploads/y.txt: 2',
      '/uploads/attachment.txt: 3',
      '/uploads/profile: 4',
      '/uploads/agnp.exe: 5',
      `/uploads/${'l'.repeat(116)}.txt: 6`,
    ].toSorted(),
  );
});

test('files of one name all stay, each with its own bytes', async () => {
  const { post, lay } = await openAttachmentFixture();
  expect((await post(['one', 'two', 'three'].map((text) => file('data.csv', text)))).status).toBe(200);
  const laid = await lay();
  expect(laid.map((line) => line.split(': ')[1])).toEqual(expect.arrayContaining(['one', 'two', 'three']));
  expect(new Set(laid.map((line) => line.split(': ')[0])).size).toBe(3);
});

test.each([
  ['a NUL in a name', [file('a\u0000b', 'x')], 'messages[0].content[0].file_name: must not contain a NUL character'],
  ['a name of 300 characters', [file('n'.repeat(300), 'x')], 'messages[0].content[0].file_name: must be at most 255'],
  ['101 attachments', Array.from({ length: 101 }, () => file('a', 'x')), 'messages[0].content: must hold at most 100'],
])('%s is refused with 422, and nothing is accepted', async (_, blocks, words) => {
  const { post, accepted } = await openAttachmentFixture();
  const { status, json } = await post(blocks);
  expect(status).toBe(422);
  expect((json as { error: { message: string } }).error.message).toContain(words);
  expect(accepted).toEqual([]);
});
