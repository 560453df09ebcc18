import { expect, test } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';

async function connected() {
  const fixture = await storeFixture();
  const { connections } = fixture.store;
  const connection = await connections.create({
    id: newId(),
    userSeq: fixture.user.seq,
    connector: 'crm',
    name: 'mine',
    secret: Buffer.from('sealed'),
  });
  return { ...fixture, connections, connection };
}

test('a connection is kept with its sealed secret, which no list shows', async () => {
  const { connections, connection, user } = await connected();
  expect(await connections.secretOf(connection.id)).toEqual(Buffer.from('sealed'));
  const items = await connections.list(user.seq, 0, 100);
  expect(items).toEqual([connection]);
  expect(JSON.stringify(items)).not.toContain('sealed');
  expect(await connections.list(user.seq + 1, 0, 100)).toEqual([]);
});

test('only the connections of the user that were not revoked are there for a run', async () => {
  const { connections, connection, user } = await connected();
  const wanted = [newId(), connection.id];
  expect((await connections.listOf(user.seq, wanted)).map(({ id }) => id)).toEqual([connection.id]);
  expect(await connections.listOf(user.seq + 1, wanted)).toEqual([]);
  await connections.revoke(connection.id);
  expect(await connections.listOf(user.seq, wanted)).toEqual([]);
});

test('a revoked connection forgets its secret and takes no other state or secret again', async () => {
  const { connections, connection } = await connected();
  expect((await connections.revoke(connection.id)).state).toBe('revoked');
  expect(await connections.secretOf(connection.id)).toBeNull();
  expect(await connections.replaceSecret(connection.id, Buffer.from('new'))).toBe(false);
  expect(await connections.noteState(connection.id, 'active', null)).toBe(false);
  expect(await connections.secretOf(connection.id)).toBeNull();
  expect((await connections.get(connection.id)).state).toBe('revoked');
  await expect(connections.revoke(newId())).rejects.toMatchObject({ reason: 'not_found' });
});

test('a state is written only when it is news', async () => {
  const { connections, connection } = await connected();
  expect(await connections.noteState(connection.id, 'active', null)).toBe(false);
  expect(await connections.noteState(connection.id, 'failed', 'refused')).toBe(true);
  expect(await connections.noteState(connection.id, 'failed', 'refused')).toBe(false);
  expect((await connections.get(connection.id)).lastError).toBe('refused');
  expect(await connections.noteState(connection.id, 'active', null)).toBe(true);
});
