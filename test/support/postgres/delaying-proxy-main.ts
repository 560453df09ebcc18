// A proxy in front of a PostgreSQL server that passes everything on later, as a network does: `SOCKET_DIRECTORY DELAY_MS` (each way). Prints its
// port when it listens. SIGUSR2 ends all connections, as a network that fails; new ones are taken.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

const [, , directory = '', delayMs = '0'] = process.argv;
const sockets = new Set<Socket>();

function passOn(from: Socket, to: Socket): void {
  sockets.add(from);
  from.on('data', (bytes) => void setTimeout(() => to.write(bytes), Number(delayMs)));
  from.on('error', () => undefined);
  from.once('close', () => {
    sockets.delete(from);
    setTimeout(() => to.destroy(), Number(delayMs));
  });
}

const server = createServer({ noDelay: true }, (client) => {
  const onward = connect(join(directory, '.s.PGSQL.5432'));
  passOn(client, onward);
  passOn(onward, client);
});
server.listen(0, '127.0.0.1', () => void process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on('SIGUSR2', () => sockets.forEach((socket) => socket.destroy()));
process.stdin.resume().on('end', () => process.exit());
