// What a company has beside the machine: its model server behind a certificate of its own issuer, its proxy, and its repository of packages.
// Each has a name and an address of loopback, so that the machine needs no network. Writes what the proxy was asked for into proxy.log.
import { appendFileSync, createReadStream, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer as createWeb } from 'node:https';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { createServer as createTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { type ModelQuestion, type Reply, replyFromDirectives } from '../../test/support/model/model-reply.ts';
import { startModelServer } from '../../test/support/model/model-server.ts';

/** As on the machine, where the paths of a checkout begin in it. */
const HERE = fileURLToPath(new URL('../..', import.meta.url));
/** As /etc/hosts of the machine has them. */
const ADDRESSES = { model: '127.0.0.2', proxy: '127.0.0.3', packages: '127.0.0.4' };

const certificate = {
  key: readFileSync(path.join(HERE, 'company.key')),
  cert: readFileSync(path.join(HERE, 'company.pem')),
};

rmSync(path.join(HERE, 'ready'), { force: true });

function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
}

/** As a model that `errand models check` finds nothing wrong with. */
function reply(question: ModelQuestion): Reply {
  const text = JSON.stringify(question.body);
  const counted = { usage: { input: Math.ceil(text.length / 3) } };
  if (question.step === 0 && text.includes('"name":"add"')) {
    return { ...counted, tools: [{ name: 'add', input: { a: 17, b: 25 } }] };
  }
  const [marker] = /MARKER-\d+/.exec(text) ?? [];
  if (marker !== undefined) return { ...counted, text: marker };
  return { ...counted, ...replyFromDirectives(question) };
}

const model = await startModelServer({ record: false });
model.script(reply);
createTls(certificate, (socket) => join(socket, connect(model.port, '127.0.0.1'))).listen(443, ADDRESSES.model);

createProxy((_asked, reply) => void reply.writeHead(405).end())
  .on('connect', (asked, socket: Socket, head) => {
    appendFileSync(path.join(HERE, 'proxy.log'), `CONNECT ${asked.url}\n`);
    const { hostname, port } = new URL(`http://${asked.url}`);
    const onward = connect(Number(port || 80), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
    });
    join(socket, onward);
  })
  .listen(3128, ADDRESSES.proxy);

createWeb(certificate, (asked, reply) => {
  const file = createReadStream(path.join(HERE, 'www', path.normalize(asked.url!)));
  file.on('error', () => reply.writeHead(404).end()).pipe(reply);
}).listen(443, ADDRESSES.packages, () => writeFileSync(path.join(HERE, 'ready'), ''));
