import { expect, test } from 'vitest';
import { makeBudgets } from '../../src/client/budgets.ts';
import { ClientError } from '../../src/client/transport/client-error.ts';

const refusing = (message: string) =>
  makeBudgets(
    () => Promise.reject(new ClientError({ kind: 'refused', status: 404 }, message)),
    async (_, reference) => reference,
  );

test.each([
  ['team', 'Team not found.', 'Team "ops" not found.'],
  ['user', 'User not found.', 'User "ops" not found.'],
  ['key', 'API key not found.', 'API key "ops" not found.'],
] as const)('a %s that is not found is named', async (subject, message, named) => {
  const wanted = { subject, ref: 'ops', limit: 1, unit: 'usd', period: 'day' } as const;
  await expect(refusing(message).set(wanted)).rejects.toThrow(named);
  await expect(refusing(message).list({ subject, ref: 'ops' })).rejects.toThrow(named);
});
