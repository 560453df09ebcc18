// What people type for an id is looked up only when it can be the prefix of one.
import { expect, test } from 'vitest';
import { makeCompletion } from '../../src/client/references.ts';
import { ClientError } from '../../src/client/transport/client-error.ts';

const ID = '0190f6a0-0000-7000-8000-000000000001';

function references(answer: () => unknown) {
  const asked: string[] = [];
  const call = async <T>(_method: string, path: string) => {
    asked.push(path);
    return answer() as T;
  };
  return { asked, whole: makeCompletion(call) };
}

const refusing = (status: number) => () => {
  throw new ClientError({ kind: 'refused', status }, `refused with ${status}`);
};

test('a start is looked up', async () => {
  const { asked, whole } = references(() => ({ id: ID }));
  expect(await whole('sessions', '0190f6a0-0')).toBe(ID);
  expect(asked).toEqual(['/api/v1/ids/sessions/0190f6a0-0']);
});

test.each([ID, 'alice', '019', 'a b', undefined, null])(
  '%j is taken as it is, without a look-up',
  async (reference) => {
    const { asked, whole } = references(refusing(500));
    expect(await whole('users', reference)).toBe(reference);
    expect(asked).toEqual([]);
  },
);

test('text that cannot start an id is left to the request that uses it', async () => {
  expect(await references(refusing(404)).whole('users', 'decade')).toBe('decade');
});

test('an ambiguous start is refused as the daemon words it; to whom cannot look up, with advice', async () => {
  await expect(references(refusing(409)).whole('runs', '0190')).rejects.toThrow('refused with 409');
  await expect(references(refusing(403)).whole('runs', '0190')).rejects.toThrow('Give the whole id');
});
