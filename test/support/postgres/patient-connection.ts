// A connection of a test, which may stand still in the middle of a transaction for as long as the machine does.
import { onTestFinished } from 'vitest';
import { clientConfig } from '../../../src/store/engine/postgres/connections/address.ts';
import { connect, type Connection } from '../../../src/store/engine/postgres/connections/connection.ts';
import { addressOf } from './address-of.ts';

/** Opens it with the settings of the engine but for that limit, until the test ends. */
export async function patientConnection(url: string): Promise<Connection> {
  const connection = await connect(clientConfig(addressOf(url)), () => undefined);
  onTestFinished(() => connection.close());
  await connection.say('SET idle_in_transaction_session_timeout = 0');
  return connection;
}
